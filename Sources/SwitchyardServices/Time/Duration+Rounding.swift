extension Duration {
    /// The duration for a reader: whole milliseconds from a second up, whole microseconds below.
    package var rounded: Duration {
        // Beyond 30 years nobody misses them, and the product could be too large.
        guard abs(inSeconds) < 1e9 else { return self }
        guard abs(inSeconds) < 1 else { return .milliseconds(Int64((inSeconds * 1e3).rounded())) }
        return .microseconds(Int64((inSeconds * 1e6).rounded()))
    }
}
