public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A store for resumable uploads that a ``LoopbackServer`` serves.
///
///     let uploads = LoopbackUploads(.tus)
///     uploads.open(on: server, at: "/files")
///     uploads.cut(after: 300_000)
///
/// If a request is interrupted, the store keeps the bytes that have arrived. If the store is opened on several servers,
/// these servers share the uploads.
public final class LoopbackUploads: Sendable {
    /// The upload protocol between client and server.
    public enum Dialect: Sendable, Hashable, CaseIterable {
        /// The tus protocol 1.0.0 with its Creation extension.
        case tus
        /// Upload sessions with `Content-Range`: the server responds with 308 until all bytes have arrived.
        case contentRange
    }

    /// One upload in the store.
    public struct Upload: Sendable {
        /// The length in bytes that the client announced.
        public let length: Int
        /// The header fields of the request that created the upload.
        public let headers: HTTPHeaders
        /// The bytes that have arrived.
        public internal(set) var bytes = Data()

        /// Whether all bytes have arrived.
        public var isComplete: Bool { bytes.count >= length }
    }

    private struct State {
        var uploads: [String: Upload] = [:]
        var last = 0
        var cut: Int?
        var proxy: (@Sendable (LoopbackRequest) -> LoopbackResponse?)?
    }

    /// The upload protocol between client and server.
    public let dialect: Dialect
    private let state = Locked(State())

    /// Creates a store without uploads.
    public init(_ dialect: Dialect) {
        self.dialect = dialect
    }

    /// The uploads in the store, in the order of their creation.
    ///
    /// Uploads that were removed are missing.
    public var uploads: [Upload] {
        state.withLock { state in state.uploads.sorted { Int($0.key) ?? 0 < Int($1.key) ?? 0 }.map(\.value) }
    }

    /// Interrupts the next request that sends bytes.
    ///
    /// After `count` bytes of the request have been stored, the server closes its connection without a response.
    public func cut(after count: Int) {
        state.withLock { $0.cut = max(0, count) }
    }

    /// Sets a closure that can respond to a request in place of the store, like a proxy in front of a server.
    ///
    /// - Parameter proxy: A closure that returns the response to a request, or `nil` to pass the request on to the
    ///   store.
    public func intercept(_ proxy: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse?) {
        state.withLock { $0.proxy = proxy }
    }

    /// Removes all uploads.
    public func forget() {
        state.withLock { $0.uploads = [:] }
    }

    /// Adds the routes for uploads to a server.
    ///
    /// - Parameters:
    ///   - server: The server. Several servers can share one store.
    ///   - path: The path at which uploads are created. Each upload has a URL below this path.
    ///   - base: The base URL of the server to which clients send the bytes of created uploads. The store must be
    ///     opened on that server too. The default is `server` itself.
    public func open(on server: LoopbackServer, at path: String = "/files", sendingTo base: String = "") {
        server.route(.post, path) { [self] request in opened(request, at: base + path) }
        server.route(nil, "\(path)/*") { [self] request in try await answer(request) }
    }

    // MARK: - Responses

    private func opened(_ request: LoopbackRequest, at path: String) -> LoopbackResponse {
        let field = dialect == .tus ? "Upload-Length" : "X-Upload-Content-Length"
        guard let length = request.headers[field].flatMap({ Int($0) }), length >= 0 else {
            return .text("\(field) is missing", status: 400)
        }
        let name = state.withLock { state in
            state.last += 1
            state.uploads["\(state.last)"] = Upload(length: length, headers: request.headers)
            return "\(state.last)"
        }
        return LoopbackResponse(status: dialect == .tus ? 201 : 200, headers: ["Location": "\(path)/\(name)"])
    }

    private func answer(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        let proxy = state.withLock { $0.proxy }
        if let response = proxy?(request) { return response }
        let name = String(request.path.split(separator: "/").last ?? "")
        guard let upload = state.withLock({ $0.uploads[name] }) else { return .text("no such upload", status: 404) }
        switch (dialect, request.method) {
        case (.tus, .head): break
        case (.tus, .patch):
            guard request.headers["Content-Type"] == "application/offset+octet-stream" else {
                return .text("the content type must be application/offset+octet-stream", status: 415)
            }
            guard request.headers["Upload-Offset"] == "\(upload.bytes.count)" else {
                return .text("the upload has \(upload.bytes.count) bytes", status: 409)
            }
            try await take(request, into: name)
        case (.contentRange, .put):
            let field = request.headers["Content-Range"] ?? ""
            if field == "bytes */\(upload.length)" { break }
            let isNext = field.hasPrefix("bytes \(upload.bytes.count)-") && field.hasSuffix("/\(upload.length)")
            guard isNext else { return .text("the upload has \(upload.bytes.count) bytes", status: 400) }
            try await take(request, into: name)
        default: return .text("not here", status: 405)
        }
        return state.withLock { $0.uploads[name] }.map { status(of: $0, after: request.method) }
            ?? .text("no such upload", status: 404)
    }

    private func status(of upload: Upload, after method: HTTPMethod) -> LoopbackResponse {
        guard dialect == .tus else {
            if upload.isComplete { return .json(#"{"bytes": \#(upload.bytes.count)}"#) }
            var response = LoopbackResponse(status: 308)
            if !upload.bytes.isEmpty { response.headers.set("Range", "bytes=0-\(upload.bytes.count - 1)") }
            return response
        }
        var response = LoopbackResponse(status: method == .head ? 200 : 204)
        response.headers.set("Tus-Resumable", "1.0.0")
        response.headers.set("Upload-Offset", "\(upload.bytes.count)")
        if method == .head { response.headers.set("Upload-Length", "\(upload.length)") }
        return response
    }

    /// Stores the bytes of a request in an upload as the bytes arrive.
    private func take(_ request: LoopbackRequest, into name: String) async throws {
        var left = state.withLock { state -> Int? in
            defer { state.cut = nil }
            return state.cut
        }
        for try await piece in request.body {
            let kept = piece.prefix(left ?? piece.count)
            state.withLock { $0.uploads[name]?.bytes.append(kept) }
            guard let limit = left else { continue }
            left = limit - kept.count
            if left == 0 { throw CancellationError() }
        }
    }
}
