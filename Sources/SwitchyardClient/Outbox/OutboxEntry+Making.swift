import Foundation
import SwitchyardServices

extension OutboxEntry {
    /// Makes an entry of a call: what it says about the request itself, apart from server, deadline and the like.
    init(
        _ configuration: APIConfiguration,
        id: UInt64,
        date: Date,
        environment: ServiceEnvironment,
        user: String? = nil,
        generator: RequestGenerator
    ) throws(OutboxError) {
        guard configuration.prebuiltRequest == nil else { throw .unstorableRequest }
        for field in configuration.headers.fields where HTTPHeaders.sensitiveNames.contains(field.name.lowercased()) {
            throw .holdsCredentials(header: field.name)
        }
        let content: (body: HTTPBody, contentType: String?)
        do throws(RequestError) {
            // What all calls have in common is added when it is sent.
            let parameters = try generator.placedParameters(configuration, sharesCommonValues: false)
            path = try Self.path(of: configuration, query: parameters.query, by: generator)
            var call = configuration
            if call.throttle != nil { call.throttle = nil }
            content = try generator.body(call, extraFields: parameters.body)
        } catch {
            throw .invalid(error)
        }
        switch content.body {
        case .none: body = nil
        case .data(let data): body = data
        case .file, .stream: throw .unstorableBody
        }
        contentType = content.contentType
        self.id = id
        idempotencyKey = configuration.idempotencyKey.value ?? UUID().uuidString
        self.environment = environment.rawValue
        self.user = user
        storedAt = date
        method = configuration.method.name
        apiVersion = configuration.apiVersion
        headers = configuration.headers.fields.flatMap { [$0.name, $0.value] }
    }

    /// The path with its query, as the generator writes it.
    private static func path(
        of call: APIConfiguration,
        query: Parameters,
        by generator: RequestGenerator
    ) throws(RequestError) -> String {
        var path = call.path
        // What fills the placeholders is not stored.
        if path.hasByte(UInt8(ascii: "{")) { path = try URLTemplate(path).expanded(with: call.pathValues) }
        guard !query.isEmpty else { return path }
        let end = path.utf8.firstIndex(of: UInt8(ascii: "#")) ?? path.endIndex
        var output = ByteBuffer(capacity: 128)
        output.append(String(path[..<end]))
        try generator.append(query, of: call, hasQuery: path.utf8[..<end].contains(UInt8(ascii: "?")), to: &output)
        return output.text() + path[end...]
    }
}
