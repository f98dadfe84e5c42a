import Switchyard
import SwitchyardTesting

/// A machine of the forum: a real HTTP server on 127.0.0.1 with the API routes below `/v1`.
final class ForumServer: Sendable {
    /// The name of the machine in the service.
    let name: String
    let server: LoopbackServer

    /// Creates a machine that does not listen yet.
    ///
    /// - Parameters:
    ///   - name: The name of the machine in the service.
    ///   - data: The data of the machine.
    ///   - port: The port. If 0, the system chooses a free port.
    ///   - uploadRate: The maximum number of upload bytes that it accepts per second, or `nil` for no limit.
    ///   - film: The film that it serves, or `nil` for none.
    init(
        _ name: String,
        data: ForumData,
        port: UInt16 = 0,
        uploadRate: Int? = nil,
        film: LoopbackContent? = nil
    ) {
        self.name = name
        let limits = LoopbackLimits(recordedBodyBytes: 0, recordedRequests: 64)
        server = LoopbackServer(port: port, limits: limits)
        server.route(.get, "/v1", answering: .json("{}"))
        routeTopics(data, uploadRate: uploadRate)
        routeHeadline()
        routeUsers(data)
        if let film { server.route(.get, "/v1/topics/*/film") { film.response(to: $0) } }
    }

    /// The base URL of the machine's API.
    var baseURL: String { "\(server.baseURL)/v1" }

    /// The number of requests that have reached the machine.
    var requestCount: Int { server.statistics.requestsReceived }

    private func routeTopics(_ data: ForumData, uploadRate: Int?) {
        server.route(.get, "/v1/topics") { request in
            let page = request.queryValue("page").flatMap(Int.init) ?? 1
            let size = request.queryValue("size").flatMap(Int.init) ?? 20
            return try .forum(data.page(page, size: size))
        }
        server.route(.get, "/v1/topics/*") { request in
            let id = request.path.split(separator: "/").last.flatMap { Int($0) }
            guard let topic = data.topics.first(where: { $0.id == id }) else {
                return try .forumRefusal(201, status: 404)
            }
            return try .forum(topic)
        }
        server.route(.post, "/v1/topics/*/attachments") { request in
            var meter = UploadMeter(contentType: request.headers["Content-Type"], bytesPerSecond: uploadRate)
            for try await piece in request.body { try await meter.take(piece) }
            guard let attachment = meter.attachment else { return try .forumRefusal(202, status: 400) }
            return try .forum(attachment)
        }
    }

    private func routeHeadline() {
        let editions = Locked(0)
        server.route(.get, "/v1/headline") { _ in
            let edition = editions.withLock { editions in
                editions += 1
                return editions
            }
            return try .forum(Headline(edition: edition, text: "Points frozen at junction \(edition)"))
        }
    }

    private func routeUsers(_ data: ForumData) {
        server.route(.get, "/v1/users/*") { request in
            let id = request.path.split(separator: "/").last.flatMap { Int($0) }
            guard let user = data.users.first(where: { $0.id == id }) else {
                return try .forumRefusal(301, status: 404)
            }
            return try .forum(user)
        }
    }
}
