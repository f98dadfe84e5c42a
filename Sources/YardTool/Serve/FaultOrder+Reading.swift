import Foundation
import Switchyard

extension FaultOrder {
    /// The names of the parameters that an order may have.
    private static let parameters = ["server", "fault", "for", "percent", "flap", "status", "by", "bytes"]

    /// Reads an order from the query of a URL, or from a JSON object if there is no query.
    ///
    /// - Throws: ``Problem`` that states what was expected.
    init(query: [URLQueryItem], json: Data) throws(Problem) {
        let members = query.isEmpty ? try Self.members(of: json) : Self.members(of: query)
        if let unknown = members.keys.sorted().first(where: { !Self.parameters.contains($0) }) {
            let known = Self.parameters.joined(separator: ", ")
            throw Problem(description: "unknown parameter \"\(unknown)\": must be one of \(known)")
        }
        let known = Self.names.joined(separator: ", ")
        guard let name = members["fault"]?.string else {
            throw Problem(description: "the parameter \"fault\" is missing or not a string: must be one of \(known)")
        }
        guard Self.names.contains(name) else {
            throw Problem(description: "unknown fault \"\(name)\": must be one of \(known)")
        }
        fault = name
        server = try members.text("server")
        `for` = try members.number("for", in: 0...86_400)
        percent = try members.number("percent", in: 0...100)
        flap = try members.number("flap", in: 0...86_400)
        status = try members.whole("status", in: 100...999)
        by = try members.number("by", in: 0...86_400)
        bytes = try members.whole("bytes", in: 0...1_000_000_000)
    }

    private static func members(of query: [URLQueryItem]) -> [String: JSONValue] {
        Dictionary(query.map { ($0.name, .string($0.value ?? "")) }) { $1 }
    }

    private static func members(of json: Data) throws(Problem) -> [String: JSONValue] {
        do throws(DecodingFailure) {
            if let object = try JSONValue(parsing: json).object { return object }
        } catch {
            throw Problem(description: "expected a query, or a JSON object such as {\"fault\": \"hang\"}: \(error)")
        }
        throw Problem(description: "expected a JSON object such as {\"fault\": \"hang\"}")
    }
}

extension [String: JSONValue] {
    /// Returns the text with this name, or `nil` if it is missing or null.
    fileprivate func text(_ name: String) throws(FaultOrder.Problem) -> String? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let text = value.string else {
            throw FaultOrder.Problem(description: "the parameter \"\(name)\" must be a string")
        }
        return text
    }

    /// Returns the number with this name, or `nil` if it is missing or null.
    ///
    /// In a query, the number is text.
    fileprivate func number(
        _ name: String,
        in range: ClosedRange<Double>
    ) throws(FaultOrder.Problem) -> Double? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let number = value.double ?? value.string.flatMap(Double.init), range.contains(number) else {
            let range = "from \(Int(range.lowerBound)) to \(Int(range.upperBound))"
            throw FaultOrder.Problem(description: "the parameter \"\(name)\" must be a number \(range)")
        }
        return number
    }

    /// Returns the integer with this name, or `nil` if it is missing or null.
    fileprivate func whole(_ name: String, in range: ClosedRange<Double>) throws(FaultOrder.Problem) -> Int? {
        guard let number = try number(name, in: range) else { return nil }
        guard let whole = Int(exactly: number) else {
            throw FaultOrder.Problem(description: "the parameter \"\(name)\" must be a whole number")
        }
        return whole
    }
}
