package import Foundation

/// What bodies need from the generator.
package struct BodyEncodingContext: Sendable {
    var form: ParameterEncodingOptions
    var json: JSONBodyOptions
    var encoder: JSONEncoder

    package init(form: ParameterEncodingOptions, json: JSONBodyOptions, encoder: JSONEncoder) {
        self.form = form
        self.json = json
        self.encoder = encoder
    }
}

extension RequestBody {
    /// Encodes the body.
    package func encoded(in context: BodyEncodingContext) throws(RequestError) -> HTTPBody {
        switch kind {
        case .none: .none
        case .form(let parameters, let options): try Self.form(parameters, options ?? context.form)
        case .parameters(let value, let options): try Self.json(value, options ?? context.json)
        case .json(let value, let encoder): try Self.json(value, encoder ?? context.encoder)
        case .text(let text, let encoding, _): try Self.text(text, encoding)
        case .propertyList(let value, let format): try Self.propertyList(value, format)
        case .data(let data): .data(data)
        case .file(let url): try Self.file(url)
        case .stream(let stream): .stream(stream)
        case .multipart(let form): try form.body()
        case .custom(let make): try RequestError.running("custom body", make)
        }
    }

    private static func form(
        _ parameters: Parameters,
        _ options: ParameterEncodingOptions
    ) throws(RequestError) -> HTTPBody {
        var output = ByteBuffer(capacity: 256)
        var serializer = ParameterSerializer(ParameterSerializerPlan(options))
        try serializer.write(parameters, to: &output)
        return .data(output.data())
    }

    private static func json(_ value: ParameterValue, _ options: JSONBodyOptions) throws(RequestError) -> HTTPBody {
        var output = ByteBuffer(capacity: 256)
        var writer = ParameterJSONWriter(options: options)
        try writer.write(value, to: &output)
        return .data(output.data())
    }

    private static func json(_ value: any Encodable, _ encoder: JSONEncoder) throws(RequestError) -> HTTPBody {
        do {
            return .data(try encoder.encode(value))
        } catch {
            throw .body(kind: "JSON", reason: .encodingFailed(describe(error)))
        }
    }

    private static func text(_ text: String, _ encoding: String.Encoding) throws(RequestError) -> HTTPBody {
        guard let data = text.data(using: encoding) else { throw .body(kind: "text", reason: .notInCharacterSet) }
        return .data(data)
    }

    private static func propertyList(
        _ value: any Encodable,
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws(RequestError) -> HTTPBody {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        do {
            return .data(try encoder.encode(value))
        } catch {
            throw .body(kind: "property list", reason: .encodingFailed(describe(error)))
        }
    }

    private static func file(_ url: URL) throws(RequestError) -> HTTPBody {
        _ = try FileBody.length(of: url)
        return .file(url)
    }

    private static func describe(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return "\(error)" }
        let path = context.codingPath.parameterPath
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    }
}
