import Foundation

extension OutboxEntry {
    /// Makes an entry of a call: what it says about the request itself, apart from server, deadline and the like.
    init(
        _ configuration: APIConfiguration,
        id: UInt64,
        date: Date,
        generator: RequestGenerator
    ) throws(OutboxError) {
        guard configuration.prebuiltRequest == nil else { throw .unstorableRequest }
        for field in configuration.headers.fields where HTTPHeaders.sensitiveNames.contains(field.name.lowercased()) {
            throw .holdsCredentials(header: field.name)
        }
        let call = Self.withPlacedParameters(configuration, generator)
        let body: HTTPBody
        do throws(RequestError) {
            path = try Self.path(of: call)
            body = try call.body.encoded(in: generator.bodyContext)
        } catch {
            throw .invalid(error)
        }
        switch body {
        case .none: self.body = nil
        case .data(let data): self.body = data
        case .file, .stream: throw .unstorableBody
        }
        contentType = call.body.contentType
        self.id = id
        idempotencyKey = configuration.idempotencyKey.value ?? UUID().uuidString
        storedAt = date
        method = configuration.method.name
        apiVersion = configuration.apiVersion
        headers = configuration.headers.fields.flatMap { [$0.name, $0.value] }
    }

    /// The call with its parameters where the generator would put them.
    private static func withPlacedParameters(
        _ configuration: APIConfiguration,
        _ generator: RequestGenerator
    ) -> APIConfiguration {
        guard !configuration.parameters.isEmpty else { return configuration }
        var call = configuration
        let isInQuery =
            switch configuration.parameterDestination {
            case .query: true
            case .body: false
            case .automatic: generator.queryMethods.contains(configuration.method)
            }
        if isInQuery {
            call.query.items += configuration.parameters.items
        } else if call.body.isNone {
            call.body = .form(configuration.parameters)
        }
        return call
    }

    private static func path(of call: APIConfiguration) throws(RequestError) -> String {
        var path = call.path
        // What fills the placeholders is not stored.
        if path.hasByte(UInt8(ascii: "{")) { path = try URLTemplate(path).expanded(with: call.pathValues) }
        guard !call.query.isEmpty else { return path }
        let end = path.utf8.firstIndex(of: UInt8(ascii: "#")) ?? path.endIndex
        var output = ByteBuffer(capacity: 128)
        let lead = UInt8(ascii: path[..<end].contains("?") ? "&" : "?")
        var serializer = ParameterSerializer(
            ParameterSerializerPlan(call.parameterOptions ?? ParameterEncodingOptions()),
            lead: lead
        )
        try serializer.write(call.query, to: &output)
        return path[..<end] + String(decoding: output.data(), as: UTF8.self) + path[end...]
    }
}
