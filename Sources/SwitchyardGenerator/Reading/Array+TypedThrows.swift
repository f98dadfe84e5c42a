extension Array {
    /// The elements for which a condition holds, with the type of its error.
    func kept<Failure: Error>(
        where condition: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> [Element] {
        var kept: [Element] = []
        for element in self where try condition(element) { kept.append(element) }
        return kept
    }
}
