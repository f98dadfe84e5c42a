import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport
import Testing

/// The failure of a request to a server with a TLS configuration, or `nil` if it succeeds.
func failure(_ server: TLSServer, _ tls: TLSConfiguration) async throws -> TransportError? {
    let url = try #require(RequestURL(server.url))
    do throws(TransportError) {
        let transport = try Transports.systemDefault(tls: tls)
        _ = try await transport.send(HTTPRequest(url: url, timeouts: .init(total: .seconds(240))))
        return nil
    } catch {
        return error
    }
}

extension TLSServer {
    /// A service with only this server.
    func service() throws -> Service {
        try Service(
            name: "tls",
            servers: [Server(name: "one", baseURLs: [.test: ServerURL(url)])],
            defaultEnvironment: .test
        )
    }
}
