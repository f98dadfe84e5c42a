import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardRequests

/// The samples of the article of recipes about notes, word for word.
extension RecipesSamples {
    // sample
    final class NotesAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func note(_ id: Int) async throws(APIError) -> (note: Article, version: String?) {
            let response = try await response(Article.self, for: APIConfiguration(path: "notes/\(id)/"))
            return (response.value, response.headers["ETag"])
        }

        // Creates the note unless there is one with its id.
        func create(_ note: Article) async throws(APIError) -> Article {
            var call = APIConfiguration(path: "notes/\(note.id)/", method: .put, body: .json(note))
            call.headers["If-None-Match"] = "*"
            return try await outcome(of: call, making: note)
        }

        // Saves the note unless it has changed since it was read.
        func save(_ note: Article, over version: String) async throws(APIError) -> Article {
            var call = APIConfiguration(path: "notes/\(note.id)/", method: .put, body: .json(note))
            call.headers["If-Match"] = version
            return try await outcome(of: call, making: note)
        }

        // Deletes the note unless it has changed since it was read.
        func delete(_ id: Int, version: String) async throws(APIError) {
            var call = APIConfiguration(path: "notes/\(id)/", method: .delete)
            call.headers["If-Match"] = version
            do throws(APIError) {
                try await send(call)
            } catch {
                // An earlier copy of this call, or another user, has deleted the note: it is gone either way.
                guard error.status == 404 || error.status == 410 else { throw error }
            }
        }

        // After a 412, the server has this call's own note if an earlier copy of the call was executed.
        private func outcome(of call: APIConfiguration, making note: Article) async throws(APIError) -> Article {
            do throws(APIError) {
                return try await value(for: call)
            } catch {
                guard error.status == 412, try await self.note(note.id).note == note else { throw error }
                return note
            }
        }
    }
    // end

    // sample
    final class InboxAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        // Returns the notes that have changed since a version, and the new version; nil if no note has changed.
        func changes(since version: String?) async throws(APIError) -> (notes: [Article], version: String?)? {
            var call = APIConfiguration(path: "notes/")
            call.query.set("_since", version)
            call.headers["If-None-Match"] = version
            call.rules = ResponseRules(status: .only([200, 304]))
            let response = try await response([Article]?.self, for: call)
            guard let notes = response.value else { return nil }
            return (notes, response.headers["ETag"])
        }
    }
    // end

    static func follow(_ inbox: InboxAPI, show: ([Article]) -> Void) async {
        // sample
        var version: String?
        while !Task.isCancelled {
            var pause = Duration.seconds(30)
            do throws(APIError) {
                if let changes = try await inbox.changes(since: version) {
                    version = changes.version
                    show(changes.notes)
                }
            } catch {
                guard error.isRetryable else { break }
                pause = error.retryAfter ?? .seconds(60)
            }
            try? await inbox.client.time.sleep(for: pause)
        }
        // end
    }

    static func pausing(_ options: inout NetworkClient.Options) {
        // sample
        let limit = RateLimit(.unlimited)
        options.limits = [limit]
        options.interceptors.append(.pausing(limit))
        // end
    }

    static func logIn(with name: String, password: String, to baseURL: String) async throws -> NetworkClient {
        // sample
        let credentials = Credentials()
        let service = try Service(name: "notes", baseURL: baseURL)
        let client = try NetworkClient(service: service) { $0.credentials = credentials }
        credentials.set(.basic(user: name, password: password), in: client.environment)
        do throws(APIError) {
            try await NotesAPI(client: client).send(APIConfiguration(path: "account/"))
        } catch {
            if error.status == 401 { credentials.logOut(in: client.environment) }  // A wrong name or password.
            throw error
        }
        // end
        return client
    }

    static func commandLineTool(_ notes: NotesAPI) async -> Int32 {
        // sample
        func run(_ notes: NotesAPI, id: Int) async -> Int32 {
            do throws(APIError) {
                print(try await notes.note(id).note.name)
                return EXIT_SUCCESS
            } catch {
                FileHandle.standardError.write(Data("notes: \(error.message)\n".utf8))
                return error.isSafeToRetry ? 75 : EXIT_FAILURE  // 75 is EX_TEMPFAIL of sysexits.h: try again later.
            }
        }
        // end
        return await run(notes, id: 7)
    }

    // sample
    struct BatchCall: Encodable, Sendable {
        var method = "GET"
        var path: String
        var body: JSONValue?
    }

    struct BatchResponse: Decodable, Sendable {
        var status: Int
        var body: JSONValue?
    }

    final class BatchAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        // Makes many calls in one request; the responses are in the order of the calls.
        func batch(_ calls: [BatchCall]) async throws(APIError) -> [BatchResponse] {
            var call = APIConfiguration(path: "batch/", method: .post, body: .json(["requests": calls]))
            call.idempotencyKey = .automatic
            let responses = try await value([BatchResponse].self, for: call, at: "responses")
            guard responses.count == calls.count else { throw APIError(.body(.truncated)) }
            return responses
        }

        // The value of one call, or the error that it would have thrown by itself.
        func value<Value: Decodable>(_ type: Value.Type, of response: BatchResponse) throws(APIError) -> Value {
            let body = (response.body ?? nil).data
            guard (200..<300).contains(response.status) else {
                var error = APIError(.status(response.status))
                error.context.keep(status: response.status, headers: [:], body: body)
                throw error
            }
            return try module.decoding.decode(type, from: body)
        }
    }
    // end

    struct Support {
        // sample
        func support(_ message: String, after error: APIError?) -> String {
            guard let error else { return message }
            let id = error.context.requestID.map { ", request \($0)" } ?? ""
            return "\(message)\n\n\(error.context.service ?? "-")\(id)\n\(error.report)"
        }

        func neededAnotherServer<Value>(_ response: APIResponse<Value>) -> Bool {
            response.attempts.contains { $0.kind == .failover || $0.kind == .hedge }
        }
        // end
    }
}
