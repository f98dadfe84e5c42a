#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The file descriptors of this process.
enum Descriptors {
    /// The number of descriptors that a connection may need at the same time: its socket, a resolver's socket, and the
    /// files of the certificate authorities.
    private static let needed = 4

    /// Whether so few descriptors are left that a connection may have failed for this reason (EMFILE, ENFILE).
    ///
    /// libcurl does not report this reason. It reports a failure of the operation that needed the descriptor, such as a
    /// name that was not found, or a certificate file that cannot be read.
    static var areExhausted: Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<needed {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
            opened.append(descriptor)
        }
        return false
    }

    /// Returns whether an error number means that there are no descriptors or no memory for another socket.
    static func lack(_ error: Int32) -> Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) }
}
