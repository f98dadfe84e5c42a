import SwitchyardClient
import SwitchyardHTTP

extension MediaType {
    /// The content types of JSON: the registered one, those with the suffix, whatever they are types of (RFC 6839 section
    /// 3.1), and the two that servers used before.
    static let jsonTypes = ["application/json", "*/*+json", "text/json", "text/javascript"].compactMap {
        MediaType($0)
    }

    /// What is asked for where JSON is read.
    static let jsonRange = "application/json"

    /// The value of `Accept` that asks for types; `nil` where that is anything.
    ///
    /// Of JSON the registered type is asked for: the others are what servers send in its place.
    static func accept(_ types: [MediaType]) -> String? {
        if types == jsonTypes { return jsonRange }
        // `*+json` is no range of media types (RFC 9110 section 12.5.1).
        let ranges = types.filter { !$0.subtype.hasPrefix("*+") }.map(\.description)
        return ranges.isEmpty || types.contains(.any) ? nil : ranges.joined(separator: ", ")
    }

    /// The value of `Accept` that asks for what any of several readers takes; `nil` where that is anything.
    ///
    /// What one of them names comes before what another would take as well.
    static func accept(ofAny accepts: [String?]) -> String? {
        guard accepts.contains(where: { $0 != nil }) else { return nil }
        var ranges: [Substring] = []
        for range in accepts.flatMap({ ($0 ?? "*/*;q=0.5").split(separator: ", ") }) where !ranges.contains(range) {
            ranges.append(range)
        }
        return ranges.joined(separator: ", ")
    }
}
