import SwitchyardClient
import SwitchyardHTTP
import Testing

@Suite struct PathJoinTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var base: String
        var path: String
        var appended: String?
        var relative: String?
        var testDescription: String { "\(base) + \(path)" }
    }

    static let rows = [
        Row(base: "https://h/v1", path: "", appended: "https://h/v1", relative: "https://h/v1"),
        Row(base: "https://h/v1/", path: "", appended: "https://h/v1/", relative: "https://h/v1/"),
        Row(base: "https://h", path: "", appended: "https://h", relative: "https://h"),
        Row(base: "https://h/v1", path: "users", appended: "https://h/v1/users", relative: "https://h/users"),
        Row(base: "https://h/v1/", path: "users", appended: "https://h/v1/users", relative: "https://h/v1/users"),
        Row(base: "https://h/v1", path: "/users", appended: "https://h/v1/users", relative: "https://h/users"),
        Row(base: "https://h/v1/", path: "/users", appended: "https://h/v1/users", relative: "https://h/users"),
        Row(base: "https://h", path: "users", appended: "https://h/users", relative: "https://h/users"),
        Row(base: "https://h", path: "/users", appended: "https://h/users", relative: "https://h/users"),
        Row(base: "https://h/", path: "/users", appended: "https://h/users", relative: "https://h/users"),
        Row(base: "https://h/v1", path: "users/", appended: "https://h/v1/users/", relative: "https://h/users/"),
        Row(base: "https://h/v1", path: "/", appended: "https://h/v1/", relative: "https://h/"),
        Row(
            base: "https://h/v1?k=1",
            path: "users?p=2",
            appended: "https://h/v1/users?k=1&p=2",
            relative: "https://h/users?p=2"
        ),
        Row(base: "https://h/v1?k=1", path: "", appended: "https://h/v1?k=1", relative: "https://h/v1?k=1"),
        Row(base: "https://h/v1", path: "?p=2", appended: "https://h/v1?p=2", relative: "https://h/v1?p=2"),
        Row(base: "https://h/v1", path: "users#top", appended: "https://h/v1/users", relative: "https://h/users"),
        Row(base: "https://h/v1", path: "u?a=b#top", appended: "https://h/v1/u?a=b", relative: "https://h/u?a=b"),
        Row(
            base: "https://h/v1",
            path: "a b/ü",
            appended: "https://h/v1/a%20b/%C3%BC",
            relative: "https://h/a%20b/%C3%BC"
        ),
        Row(base: "https://h/v1", path: "a%20b", appended: "https://h/v1/a%20b", relative: "https://h/a%20b"),
        Row(base: "https://h/v1", path: "50%", appended: "https://h/v1/50%25", relative: "https://h/50%25"),
        Row(base: "https://h/v1", path: "a/../b", appended: "https://h/v1/b", relative: "https://h/b"),
        Row(base: "https://h/v1", path: "../b", appended: nil, relative: "https://h/b"),
        Row(base: "https://h/v1", path: "a/%2e%2E/../b", appended: nil, relative: "https://h/b"),
        Row(base: "https://h/v1", path: "//x/y", appended: "https://h/v1//x/y", relative: "https://x/y"),
        Row(base: "https://h/v1", path: "http://x/y", appended: "http://x/y", relative: "http://x/y"),
        Row(base: "https://h/v1", path: "HTTP://X", appended: "http://X", relative: "http://X"),
        Row(
            base: "https://h/v1",
            path: "httpLogs/x",
            appended: "https://h/v1/httpLogs/x",
            relative: "https://h/httpLogs/x"
        ),
        Row(
            base: "https://h/v1",
            path: "items:batchGet",
            appended: "https://h/v1/items:batchGet",
            relative: nil
        ),
        Row(base: "https://h/v1", path: "ftp://x/y", appended: nil, relative: nil),
        Row(base: "https://h/v1", path: "http:///y", appended: nil, relative: nil),
        Row(base: "https://h/v1", path: "a\r\nb", appended: nil, relative: nil),
        Row(base: "https://h/v1", path: "a\u{0}", appended: nil, relative: nil),
        Row(
            base: "http://[::1]:8080/v1",
            path: "a",
            appended: "http://[::1]:8080/v1/a",
            relative: "http://[::1]:8080/a"
        ),
    ]

    @Test(arguments: rows)
    func `paths are appended to a base URL or resolved against the base URL, depending on an option`(row: Row) throws {
        let base = try BaseURL(row.base)
        var generator = RequestGenerator()

        let appended = try? generator.request(for: APIConfiguration(path: row.path), on: base).url.text
        generator.join = .relative
        let relative = try? generator.request(for: APIConfiguration(path: row.path), on: base).url.text

        #expect(appended == row.appended)
        #expect(relative == row.relative)
    }

    @Test(arguments: [
        ("http://h/v1", "https://h/v1/x"), ("https://h/v1", "https://h/v1/x"), ("http://h:80", "https://h/x"),
        ("http://h:8080", "https://h:8080/x"), ("HTTP://h", "https://h/x"), ("https://h:80", "https://h:80/x"),
    ])
    func `the upgrade to https changes only base URLs with http`(base: String, expected: String) throws {
        var configuration = APIConfiguration(path: "x")
        configuration.upgradesToHTTPS = true

        let request = try RequestGenerator().request(for: configuration, on: BaseURL(base))

        #expect(request.url.text == expected)
    }

    @Test(arguments: [
        ("x", "https://h/x?a=1&b=2"), ("x?c=3", "https://h/x?c=3&a=1&b=2"), ("x?", "https://h/x?a=1&b=2"),
        ("x?c&", "https://h/x?c&a=1&b=2"), ("", "https://h?a=1&b=2"), ("http://y/z?k", "http://y/z?k&a=1&b=2"),
    ])
    func `parameters are appended to an existing query`(path: String, expected: String) throws {
        let configuration = APIConfiguration(path: path, query: ["b": 2, "a": 1])

        let request = try RequestGenerator().request(for: configuration, on: BaseURL("https://h"))

        #expect(request.url.text == expected)
    }
}
