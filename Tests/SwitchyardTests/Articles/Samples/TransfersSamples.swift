import Foundation
import Switchyard
import SwitchyardStreams
import SwitchyardTransfers

/// The samples of the article on transfers, word for word.
struct TransfersSamples {
    // sample
    func download(with client: NetworkClient, to folder: URL) async throws -> URL {
        var film = DownloadConfiguration(path: "films/7.mov", to: .file(folder.appendingPathComponent("7.mov")))
        film.existingFile = .replace
        film.createsDirectories = true
        let file = try await client.download(film) { progress in
            print(progress.completed, progress.fraction ?? 0)
        }
        return file.url
    }
    // end

    // sample
    struct Tick: Decodable, Sendable {
        var price: Double
    }

    func follow(with client: NetworkClient) async throws {
        let answer = try await client.stream(APIConfiguration(path: "ticks"))
        for try await tick in answer.bytes.values(of: Tick.self) { print(tick.price) }
    }

    func listen(with client: NetworkClient) async throws {
        for try await event in client.eventSource(APIConfiguration(path: "news")) {
            print(event.type, event.data)
        }
    }
    // end

    // sample
    func listenAttentively(with client: NetworkClient) async throws {
        var call = APIConfiguration(path: "news")
        call.idleTimeout = .seconds(45)
        for try await event in client.eventSource(call) {
            print(event.data)
        }
    }
    // end

    // sample
    func upload(with client: NetworkClient, film: URL) async throws -> Int {
        var upload = UploadConfiguration(path: "films", from: .file(film, contentType: "video/quicktime"))
        upload.request.idempotencyKey = .automatic
        let answer = try await client.upload(upload) { progress in
            if progress.direction == .upload { print(progress.fraction ?? 0) }
        }
        return answer.status
    }
    // end

    // sample
    func upload(with client: NetworkClient, film: URL, title: String) async throws -> Int {
        var form = MultipartForm()
        form.append(.field("title", title))
        form.append(.file(film, name: "film"))
        let upload = UploadConfiguration(path: "forms", from: .form(form))
        return try await client.upload(upload) { progress in print(progress.fraction ?? 0) }.status
    }
    // end

    // sample
    func upload(with client: NetworkClient, film: URL, keeping folder: URL) async throws -> RequestURL? {
        var upload = UploadConfiguration(path: "files", from: .file(film))
        upload.resumption = .tus(metadata: ["filename": film.lastPathComponent])
        upload.resumption?.directory = folder
        return try await client.upload(upload).context.url
    }
    // end

    // sample
    func show(_ download: DownloadConfiguration, with client: NetworkClient) async throws {
        let monitor = TransferMonitor()
        var download = download
        download.monitor = monitor
        // monitor.progress is a Foundation Progress: observe it, cancel(), pause() and resume() it.
        _ = try await client.download(download)
    }
    // end

    // sample
    func follow(_ room: String, with client: NetworkClient) async throws {
        var options = WebSocket.Options()
        options.subprotocols = ["chat.v2"]
        options.pingInterval = .seconds(30)
        let socket = try await client.webSocket(APIConfiguration(path: "rooms/\(room)"), options: options)
        try await socket.send(.text("hello"))
        for try await message in socket.messages {
            if case .text(let text) = message { print(text) }
        }
    }
    // end

    // sample
    func stayConnected(with client: NetworkClient) async throws {
        let socket = client.reconnectingWebSocket(APIConfiguration(path: "live")) { resumption in
            // Runs before any other message is sent over the new connection.
            try await resumption.socket.send(.text("subscribe news"))
            // The server recognizes a message that it has already received.
            return .sendAgain
        }
        try await socket.send(.text("waits until there is a connection"))
        for try await message in socket.messages { print(message) }
    }
    // end
}
