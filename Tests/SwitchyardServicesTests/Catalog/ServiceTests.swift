import SwitchyardServices
import Testing

@Suite struct ServiceTests {
    @Test func `a service that is created in Swift is validated like a service file`() throws {
        let url = try ServerURL("https://a.example.com")

        #expect(throws: CatalogError(.noServers, at: "servers", expected: "at least one server")) {
            try Service(name: "topics", servers: [], defaultEnvironment: .test)
        }
        let error = #expect(throws: CatalogError.self) {
            try Service(
                name: "topics",
                servers: [Server(name: "a", baseURLs: [.test: url])],
                defaultEnvironment: .release
            )
        }
        #expect(error?.kind == .missingEnvironment)
        #expect(error?.found == "release")
    }

    @Test func `creating a service with an invalid switching rule throws an error`() throws {
        let server = Server(name: "a", baseURLs: [.test: try ServerURL("https://a.example.com")])

        let error = #expect(throws: CatalogError.self) {
            try Service(
                name: "topics",
                servers: [server],
                defaultEnvironment: .test,
                switching: .errorRatio(threshold: 2)
            )
        }

        #expect(error?.keyPath == "switching.errorRatio")
    }

    @Test func `a service with one server needs only a name and a base URL`() throws {
        let service = try Service(name: "topics", baseURL: "https://a.example.com/v1")

        #expect(service.servers.map(\.name) == ["primary"])
        #expect(service.environments == [.release] && service.defaultEnvironment == .release)
        #expect(service.servers.first?.baseURLs[.release] == (try ServerURL("https://a.example.com/v1")))
    }

    @Test func `the error for an invalid base URL names its key and hides its password`() {
        let error = #expect(throws: CatalogError.self) {
            try Service(name: "topics", baseURL: "https://ada:secret@a.example.com", environment: .test)
        }

        #expect(error?.kind == .invalidURL)
        #expect(error?.keyPath == "servers[0].baseURLs.test")
        #expect(error?.expected == "a URL without user name and password")
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test func `the environments of a service may have different servers`() throws {
        let url = try ServerURL("https://a.example.com")
        let servers = [
            Server(name: "a", baseURLs: [.test: url, .develop: url]),
            Server(name: "b", baseURLs: [.test: url]),
            Server(name: "c", baseURLs: [.test: url, .release: url]),
        ]

        let service = try Service(name: "topics", servers: servers, defaultEnvironment: .develop)

        #expect(service.environments == [.develop, .release, .test])
        #expect(service.servers(in: .develop).map(\.name) == ["a"])
        #expect(service.servers(in: .release).map(\.name) == ["c"])
        #expect(service.servers(in: .test).map(\.name) == ["a", "b", "c"])
        #expect(service.servers(in: "staging").isEmpty)
    }

    @Test func `a server that is part of no environment is an error`() throws {
        let servers = [
            Server(name: "a", baseURLs: [.test: try ServerURL("https://a.example.com")]),
            Server(name: "b", baseURLs: [:]),
        ]

        let error = #expect(throws: CatalogError.self) {
            try Service(name: "topics", servers: servers, defaultEnvironment: .test)
        }

        #expect(error?.kind == .missingEnvironment)
        #expect(error?.keyPath == "servers[1].baseURLs")
    }

    @Test func `two servers of a service may have the same base URL`() throws {
        let url = try ServerURL("https://dev.example.com")
        let servers = ["a", "b"].map { Server(name: $0, baseURLs: [.develop: url]) }

        let service = try Service(name: "topics", servers: servers, defaultEnvironment: .develop)

        #expect(service.servers.count == 2)
        #expect(service.server(named: "b")?.baseURLs[.develop] == url)
        #expect(service.server(named: "c") == nil)
    }

    @Test func `a service may have up to 64 servers`() throws {
        let url = try ServerURL("https://a.example.com")
        let servers = (0...Service.maximumServers).map { Server(name: "\($0)", baseURLs: [.test: url]) }

        #expect(try Service(name: "a", servers: servers.dropLast(), defaultEnvironment: .test).servers.count == 64)
        let error = #expect(throws: CatalogError.self) {
            try Service(name: "a", servers: servers, defaultEnvironment: .test)
        }
        #expect(error?.kind == .invalidValue)
    }
}

@Suite struct ServerURLTests {
    @Test(arguments: [
        ("http://127.0.0.1:8081/v1", "http", "127.0.0.1", 8081),
        ("https://A.Example.com", "https", "a.example.com", nil),
        ("https://[::1]:9/x/", "https", "::1", 9), ("HTTP://a/%20b", "http", "a", nil),
    ])
    func `a base URL provides its scheme, host and port`(text: String, scheme: String, host: String, port: Int?) throws
    {
        let url = try ServerURL(text)

        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.text == text)
        #expect(url.foundationURL != nil)
    }

    @Test(arguments: [
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1"),
        ("HTTPS://BÜCHER.Example:8443", "HTTPS://xn--bcher-kva.example:8443"),
        ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ])
    func `the host of a base URL in another script is converted to its ASCII form`(text: String, ascii: String) throws {
        let url = try ServerURL(text)

        #expect(url.text == ascii)
        #expect(url == (try ServerURL(ascii)))
        #expect(url.host.utf8.allSatisfy { $0 < 128 })
    }

    @Test(arguments: [
        ("http://a%2fb/v1", ServerURL.Problem.malformed), ("http://a%20b", .malformed), ("http://h%41/x", .malformed),
        ("http://1.2.3.4.5/", .malformed), ("http://256.1.1.1/", .malformed), ("http://0x7f.1/", .malformed),
        ("http://127.1", .malformed), ("http://[fe80::1%25eth0]/", .malformed), ("http://[1:2]/", .malformed),
        ("http://[v1.x]/", .malformed),
        ("", .scheme), ("a.example.com", .scheme), ("ftp://a", .scheme), ("http://", .host),
        ("http:///path", .host), ("https:a", .host), ("http://a?b", .tail), ("http://a#b", .tail),
        ("http://u:p@a", .credentials), ("http://u@a", .credentials), ("http://a b", .malformed),
        ("http://a:99999", .malformed), ("http://a\r\n", .malformed), ("http://ä.example/ä", .malformed),
        ("http://ä\u{7}.example", .malformed),
        ("http://ä@a.example", .malformed), ("http://b%C3%BCcher.example", .malformed),
        ("//a", .scheme), ("http://:80", .host),
    ])
    func `the error for an invalid base URL names the reason`(text: String, problem: ServerURL.Problem) {
        #expect(throws: problem) { try ServerURL(text) }
    }
}
