extension Array {
    /// Returns the elements for which the condition is `true`.
    ///
    /// Unlike `filter`, it rethrows the typed error of the condition.
    func kept<Failure: Error>(
        where condition: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> [Element] {
        var kept: [Element] = []
        for element in self where try condition(element) { kept.append(element) }
        return kept
    }
}
