extension Array {
    /// Returns the elements that satisfy a condition, and rethrows the condition's typed error.
    func kept<Failure: Error>(
        where condition: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> [Element] {
        var kept: [Element] = []
        for element in self where try condition(element) { kept.append(element) }
        return kept
    }
}
