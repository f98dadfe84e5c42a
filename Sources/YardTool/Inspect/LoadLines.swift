import Foundation
import SwitchyardClient
import SwitchyardInspector

/// The output lines of `yard load`: the results of requests, and the changes of the preferred server.
///
/// The line of a request contains only the last attempt of the request, and neither its path nor its method.
struct LoadLines {
    /// A line with the result of a request or with a change of the preferred server.
    private struct Line: Decodable {
        var load: String?
        var due: Double?
        var done: Double?
        var status: Int?
        var server: String?
        var attempts: Int?
        var error: String?
        var event: String?
        var at: Double?
        var from: String?
        var to: String?
        var cause: String?
    }

    private var calls: [InspectedCall] = []
    private var events: [InspectorFeed.Event] = []

    /// Parses the lines of a file.
    init(_ data: Data, of path: String) throws(TrafficFileError) {
        let decoder = JSONDecoder()
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, text) in lines.enumerated() where !text.isEmpty {
            let place = "line \(index + 1)"
            let line: Line
            do { line = try decoder.decode(Line.self, from: text) } catch {
                throw TrafficFileError(path: path, problem: "\(place): \(TrafficFileError.words(error))")
            }
            guard take(line) else {
                throw TrafficFileError(path: path, problem: "\(place) must be a line that yard load has printed")
            }
        }
        calls.sort { $0.start < $1.start }
    }

    /// Returns the record of the calls that the inspector's page shows.
    func record(name: String) -> InspectorRecord {
        let details = calls.enumerated().map { index, call in
            var call = call
            (call.id, call.number) = ("\(index + 1)", index + 1)
            return CallDetail(call: call)
        }
        return InspectorRecord(name: name, place: ("load", "-"), details: details, events: events)
    }

    private mutating func take(_ line: Line) -> Bool {
        if let event = Self.event(line, number: events.count + 1) {
            events.append(event)
            return true
        }
        guard let call = Self.call(line) else { return false }
        calls.append(call)
        return true
    }

    private static func event(_ line: Line, number: Int) -> InspectorFeed.Event? {
        guard line.event == "switch", let at = line.at, let from = line.from, let to = line.to else { return nil }
        let text = "switched from \(from) to \(to) (\(line.cause ?? "-"))"
        return InspectorFeed.Event(number: number, time: at * 1_000, kind: .switch, server: to, text: text)
    }

    private static func call(_ line: Line) -> InspectedCall? {
        guard let load = line.load, let due = line.due, let done = line.done, let attempts = line.attempts else {
            return nil
        }
        var call = InspectedCall(number: 0, start: due * 1_000, method: "-", path: "(\(load) loop)")
        call.end = done * 1_000
        call.outcome = InspectedCall.Outcome(status: line.status, error: line.status == nil ? line.error : nil)
        call.from = line.status == nil ? nil : .network
        guard attempts > 0 else { return call }
        var attempt = InspectedAttempt(
            number: attempts,
            round: 1,
            method: "-",
            url: "-",
            start: due * 1_000,
            kind: attempts == 1 ? .first : .failover
        )
        attempt.server = line.server
        attempt.end = done * 1_000
        (attempt.status, attempt.error) = (line.status, call.outcome?.error)
        call.attempts = [attempt]
        return call
    }
}
