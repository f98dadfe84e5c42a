import Foundation
import Switchyard
import SwitchyardServices
import SwitchyardTesting

/// A backend of notes with versions, conditions, polling, Basic login and batches.
final class NotesBackend: Sendable {
    private struct State {
        var notes: [Int: RecipesSamples.Article] = [:]
        var changes = 0
        /// How many responses to writes are lost after the write was executed.
        var losses = 0
    }

    private struct Batch: Decodable {
        var requests: [Call]

        struct Call: Decodable {
            var method: String
            var path: String
        }
    }

    let server = LoopbackServer()
    private let state = Locked(State())

    init() throws {
        server.route(.get, "/notes/") { [unowned self] in try list($0) }
        server.route(nil, "/notes/{id}/") { [unowned self] in try await note($0) }
        server.route(.post, "/batch/") { [unowned self] in try await batch($0) }
        server.route(.get, "/account/") { request in
            let isKnown = request.headers["Authorization"] == "Basic \(Data("ada:secret".utf8).base64EncodedString())"
            return isKnown ? .json("{}") : .json(#"{"message": "Wrong name or password."}"#, status: 401)
        }
        try server.start()
    }

    /// Drops the next responses to writes.
    func loseResponses(_ count: Int = 1) {
        state.withLock { $0.losses = count }
    }

    private var version: String { state.withLock { "\"\($0.changes)\"" } }

    private func list(_ request: LoopbackRequest) throws -> LoopbackResponse {
        guard request.headers["If-None-Match"] != version else { return .status(304) }
        let notes = state.withLock { $0.notes.values.sorted { $0.id < $1.id } }
        return .json(try JSONEncoder().encode(notes), headers: ["ETag": version])
    }

    private func note(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        guard let id = request.pathValue("id").flatMap({ Int($0) }) else { return .status(404) }
        let body = try await request.body.collect()
        let old = state.withLock { $0.notes[id] }
        if request.headers["If-None-Match"] == "*", old != nil { return .status(412) }
        if request.method != .put, old == nil { return .status(404) }
        if let expected = request.headers["If-Match"], expected != version || old == nil { return .status(412) }
        switch request.method {
        case .put:
            let new = try JSONDecoder().decode(RecipesSamples.Article.self, from: body)
            return try changed(id, to: new, status: old == nil ? 201 : 200)
        case .delete: return try changed(id, to: nil, status: 204)
        default: return .json(try JSONEncoder().encode(old), headers: ["ETag": version])
        }
    }

    private func changed(_ id: Int, to note: RecipesSamples.Article?, status: Int) throws -> LoopbackResponse {
        let isLost = state.withLock { state in
            state.notes[id] = note
            state.changes += 1
            defer { state.losses = max(0, state.losses - 1) }
            return state.losses > 0
        }
        if isLost { return .status(503) }
        guard let note else { return .status(status) }
        return .json(try JSONEncoder().encode(note), status: status, headers: ["ETag": version])
    }

    private func batch(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        let batch = try JSONDecoder().decode(Batch.self, from: try await request.body.collect())
        let notes = state.withLock { $0.notes }
        let parts = batch.requests.map { call -> JSONValue in
            let id = call.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
            guard let note = notes[id] else { return ["status": 404, "body": ["message": "No such note."]] }
            return ["status": 200, "body": ["id": .number(JSONNumber(note.id)), "name": .string(note.name)]]
        }
        return .json((["responses": .array(parts)] as JSONValue).data)
    }
}
