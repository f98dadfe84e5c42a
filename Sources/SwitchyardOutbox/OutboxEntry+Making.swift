import Foundation
import SwitchyardClient
import SwitchyardHTTP
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
            (path, content) = try generator.ownContent(of: configuration)
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
}
