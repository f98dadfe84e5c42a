import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// Cases for multipart bodies.
@Suite(.caseFolder) struct MultipartCaseTests {
    /// The part that a case describes.
    static func part(_ value: CaseValue) throws -> MultipartPart {
        let name = value["name"]?.text
        let fileName = value["fileName"]?.text
        let type = value["mimeType"]?.string
        var part: MultipartPart
        if let nested = value["multipart"] {
            part = MultipartPart(name: name, content: .form(try form(nested)))
        } else if let file = value["file"] {
            part = try filePart(file, name: name ?? "", fileName: fileName, type: type)
        } else if let stream = value["stream"] {
            let data =
                stream["base64"]?.string.flatMap { Data(base64Encoded: $0) }
                ?? Data((stream.array ?? []).compactMap(\.text).joined().utf8)
            let length = stream["length"]?.int.map(Int64.init) ?? Int64(data.count)
            part = .stream(
                HTTPBody.Stream(length: length) { SegmentedBodyReader([.bytes(data)]) },
                name: name ?? "",
                fileName: fileName,
                contentType: type
            )
        } else if let data = content(value) {
            let isUnknown = value["length"]?.string == "unknown"
            let content =
                isUnknown
                ? MultipartPart.Content.stream(HTTPBody.Stream(length: nil) { SegmentedBodyReader([.bytes(data)]) })
                : .data(data)
            let isGiven = (value["headers"]?.members ?? []).contains { $0.key.equalsIgnoringASCIICase("Content-Type") }
            let guessed = type ?? (isGiven ? nil : fileName.map(MediaTypes.type(ofFile:)))
            part = MultipartPart(name: name, fileName: fileName, contentType: guessed, content: content)
        } else {
            throw CaseParameters.Unknown(what: "The part is described in words.")
        }
        for field in value["headers"]?.members ?? [] { part.headers.add(field.key, field.value.string ?? "") }
        return part
    }

    static func content(_ value: CaseValue) -> Data? {
        if let hex = value["content_hex"]?.string {
            return Data(
                stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
            )
        }
        for key in ["value", "text", "content", "body"] {
            guard let given = value[key] else { continue }
            if let flag = given.bool { return Data("\(flag)".utf8) }
            if case .number(let text) = given { return Data(text.utf8) }
            if given == .null { return Data() }
            return given.text.map { Data($0.utf8) }
        }
        return nil
    }

    private static func filePart(
        _ file: CaseValue,
        name: String,
        fileName: String?,
        type: String?
    ) throws -> MultipartPart {
        guard let path = file.string ?? file["fileName"]?.string else {
            throw CaseParameters.Unknown(what: "The file is described in words.")
        }
        let bytes = file["base64"]?.string.flatMap { Data(base64Encoded: $0) } ?? Data("x".utf8)
        let url = try #require(CaseFolder.current).file((path as NSString).lastPathComponent, bytes)
        return .file(url, name: name, fileName: fileName, contentType: type)
    }

    static func form(_ item: CaseValue, subtype: String = "form-data") throws -> MultipartForm {
        var parts: [MultipartPart] = []
        for value in item["parts"]?.array ?? [] {
            if let values = value["values"]?.array {
                parts += values.map { .field(value["name"]?.string ?? "", $0.text) }
            } else {
                parts.append(try part(value))
            }
        }
        return MultipartForm(
            parts: parts,
            subtype: item["type"]?.string ?? subtype,
            boundary: item["boundary"]?.string
        )
    }

    /// The length of a part's content, if it is known.
    static func length(of part: MultipartPart) -> Int64? {
        switch part.content {
        case .data(let data): Int64(data.count)
        case .stream(let stream): stream.length
        default: nil
        }
    }

    static func bytes(_ form: MultipartForm) async throws -> Data {
        try await form.body().collected(upTo: 1 << 24)
    }

    /// The bytes of an expected body, in which `{{base64}}` stands for bytes.
    static func expectedBytes(_ text: String) -> Data {
        var result = Data()
        var rest = text[...]
        while let open = rest.range(of: "{{"), let close = rest[open.upperBound...].range(of: "}}") {
            result += Data(rest[..<open.lowerBound].utf8)
            result += Data(base64Encoded: String(rest[open.upperBound..<close.lowerBound])) ?? Data()
            rest = rest[close.upperBound...]
        }
        return result + Data(rest.utf8)
    }

    /// Compares the finished form with a case.
    static func compare(_ form: MultipartForm, _ item: CaseValue) async throws -> CaseOutcome {
        var outcome = CaseOutcome.passed
        if let expected = item["expected_content_type"]?.string { outcome = .compare(form.contentType, expected) }
        if let allowed = item["expected_content_type_any_of"]?.array?.compactMap(\.string) {
            outcome = allowed.contains(form.contentType) ? outcome : .failed("got \(form.contentType)")
        }
        guard outcome == .passed else { return outcome }
        let body = try form.body()
        let data = try await body.collected(upTo: 1 << 24)
        if let length = body.length, length != Int64(data.count) {
            return .failed("length \(length) of \(data.count) bytes")
        }
        if let expected = item["expected_content_length"]?.int {
            guard body.length ?? -1 == Int64(expected) else { return .failed("length \(body.length ?? -1)") }
        }
        if let expected = item["expected_body"]?.text, data != expectedBytes(expected) {
            return .failed("got \(String(decoding: data, as: UTF8.self))")
        }
        let text = String(decoding: data, as: UTF8.self)
        // The fields of a part may be in any order (RFC 9110 section 5.3).
        let lines = (item["expected_part_head"]?.text ?? "").split(separator: "\r\n").map(String.init)
        let wanted = lines + [item["expected_contains"]?.text].compactMap(\.self)
        for expected in wanted where !text.contains(expected) {
            return .failed("lacks \(expected)")
        }
        if let absent = item["expected_absent"]?.text, text.contains(absent) { return .failed("has \(absent)") }
        if let end = item["expected_body_ends_with"]?.text, !data.reversed().starts(with: Data(end.utf8).reversed()) {
            return .failed("ends otherwise")
        }
        return .passed
    }
}
