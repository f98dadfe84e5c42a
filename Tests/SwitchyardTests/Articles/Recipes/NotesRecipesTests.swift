import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Runs the samples about conditions, polling, Basic login and batches.
@Suite(.timeLimit(.minutes(5)), .prompt) struct NotesRecipesTests {
    typealias Samples = RecipesSamples

    private func withBackend(_ body: (NotesBackend, NetworkClient) async throws -> Void) async throws {
        let backend = try NotesBackend()
        defer { backend.server.stop() }
        let client = try NetworkClient(service: Service(name: "notes", baseURL: backend.server.baseURL))
        defer { client.shutdown() }
        try await body(backend, client)
    }

    private static let note = Samples.Article(id: 7, name: "first")

    @Test func `in the recipe for notes, a note is created only once and replaces no other note`() async throws {
        try await withBackend { _, client in
            let notes = Samples.NotesAPI(client: client)
            let created = try await notes.create(Self.note)
            #expect(created == Self.note)

            let other = Samples.Article(id: 7, name: "other")
            let error = await #expect(throws: APIError.self) { _ = try await notes.create(other) }

            #expect(error?.status == 412)
            #expect(try await notes.note(7).note == Self.note)
        }
    }

    @Test func `creating or saving a note again succeeds if the first response was lost`() async throws {
        try await withBackend { backend, client in
            let notes = Samples.NotesAPI(client: client)
            backend.loseResponses()
            await #expect(throws: APIError.self) { _ = try await notes.create(Self.note) }
            #expect(try await notes.create(Self.note) == Self.note)

            var (edited, version) = try await notes.note(7)
            edited.name = "edited"
            let (note, old) = (edited, try #require(version))
            backend.loseResponses()
            await #expect(throws: APIError.self) { _ = try await notes.save(note, over: old) }
            #expect(try await notes.save(note, over: old) == note)
            version = try await notes.note(7).version
            #expect(version != old)
        }
    }

    @Test func `deleting a note again succeeds if the first response was lost`() async throws {
        try await withBackend { backend, client in
            let notes = Samples.NotesAPI(client: client)
            _ = try await notes.create(Self.note)
            let version = try #require(try await notes.note(7).version)
            await #expect(throws: APIError(.status(412))) { try await notes.delete(7, version: "\"gone\"") }

            backend.loseResponses()
            await #expect(throws: APIError.self) { try await notes.delete(7, version: version) }
            try await notes.delete(7, version: version)

            await #expect(throws: APIError(.status(404))) { _ = try await notes.note(7) }
        }
    }

    @Test func `in the recipe for polling, polling returns the changed notes, and nil after a 304`() async throws {
        try await withBackend { backend, client in
            let inbox = Samples.InboxAPI(client: client)
            _ = try await Samples.NotesAPI(client: client).create(Self.note)

            let first = try await inbox.changes(since: nil)
            let second = try await inbox.changes(since: first?.version)

            #expect(first?.notes == [Self.note])
            #expect(second == nil)
            #expect(backend.server.requests.last?.target == "/notes/?_since=%221%22")
            #expect(backend.server.requests.last?.status == 304)
        }
    }

    @Test func `the polling loop ends when its task is cancelled`() async throws {
        try await withBackend { backend, client in
            let inbox = Samples.InboxAPI(client: client)
            let shown = Locked(0)
            let loop = Task { await Samples.follow(inbox) { _ in shown.withLock { $0 += 1 } } }
            await until { shown.withLock { $0 } == 1 }

            loop.cancel()
            await loop.value

            #expect(backend.server.requests.count == 1)
        }
    }

    @Test func `a login by name and password starts with empty credentials`() async throws {
        try await withBackend { backend, _ in
            let baseURL = backend.server.baseURL
            let client = try await Samples.logIn(with: "ada", password: "secret", to: baseURL)
            client.shutdown()

            let error = await #expect(throws: APIError.self) {
                _ = try await Samples.logIn(with: "ada", password: "wrong", to: baseURL)
            }

            #expect(error?.status == 401)
            #expect(error?.message == "Wrong name or password.")
        }
    }

    @Test func `in the recipe for batches, the calls of a batch succeed and fail independently`() async throws {
        try await withBackend { backend, client in
            _ = try await Samples.NotesAPI(client: client).create(Self.note)
            let api = Samples.BatchAPI(client: client)

            let responses = try await api.batch([.init(path: "notes/7/"), .init(path: "notes/8/")])

            #expect(try api.value(Samples.Article.self, of: responses[0]) == Self.note)
            #expect(throws: APIError(.status(404))) { try api.value(Samples.Article.self, of: responses[1]) }
            #expect(backend.server.requests.last?.path == "/batch/")
        }
    }
}
