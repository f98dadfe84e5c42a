import Foundation
import SwitchyardDiagnostics
import SwitchyardInspector

/// Calls that were recorded in a file.
struct RecordedTraffic {
    let record: InspectorRecord

    /// Reads a file: JSON lines if its extension is `.jsonl`, otherwise an HTTP Archive.
    init(at path: String) throws(TrafficFileError) {
        let url = URL(fileURLWithPath: path)
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw TrafficFileError(path: path, problem: "cannot be read: \(error.localizedDescription)")
        }
        let name = url.lastPathComponent
        record =
            path.lowercased().hasSuffix(".jsonl")
            ? try LoadLines(data, of: path).record(name: name) : try Self.archive(data, of: path, name: name)
        guard !record.feed.calls.isEmpty else {
            throw TrafficFileError(path: path, problem: "has no calls" + (record.leftOut.map { ", \($0.words)" } ?? ""))
        }
    }

    private static func archive(
        _ data: Data,
        of path: String,
        name: String
    ) throws(TrafficFileError) -> InspectorRecord {
        let archive: HARArchive
        do { archive = try HARArchive(data: data) } catch {
            throw TrafficFileError(path: path, problem: "is not an HTTP Archive: \(TrafficFileError.words(error))")
        }
        return InspectorRecord(of: archive, name: name)
    }
}

/// The reason why a file of recorded calls cannot be shown.
struct TrafficFileError: Error, Equatable, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "\(path) \(problem)" }

    /// Returns a description of a decoding error and its location.
    static func words(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(place(context.codingPath)) lacks \"\(key.stringValue)\""
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(place(context.codingPath)): \(context.debugDescription)"
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty: "it is not JSON"
        case DecodingError.dataCorrupted(let context): "\(place(context.codingPath)): \(context.debugDescription)"
        default: "\(error)"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        let parts = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        let text = parts.joined()
        return text.isEmpty ? "it" : String(text.drop { $0 == "." })
    }
}
