import SwitchyardClient
import SwitchyardHTTP
import Testing

@Suite struct ConfigurationRulesTests {
    private func applied(_ rules: ConfigurationRules, _ configuration: APIConfiguration) throws -> APIConfiguration {
        try rules.applied(to: configuration, by: RequestGenerator(), on: BaseURL("https://h/v1"))
    }

    @Test func `a later configuration rule overrides an earlier rule`() throws {
        var rules = ConfigurationRules()
        rules.add("/**") { $0.cacheLifetime = .seconds(1) }
        rules.add("/users/*") { $0.cacheLifetime = .seconds(2) }

        #expect(try applied(rules, APIConfiguration(path: "users/7?x=1")).cacheLifetime == .seconds(2))
        #expect(try applied(rules, APIConfiguration(path: "users/7/posts")).cacheLifetime == .seconds(1))
    }

    @Test func `a configuration rule may apply to some methods or to the calls that a closure matches`() throws {
        var rules = ConfigurationRules()
        rules.add("/**", methods: [.post]) { $0.timeout = .seconds(9) }
        rules.add(where: { $0.path.hasSuffix(".png") }) { $0.usesCDN = true }

        #expect(try applied(rules, APIConfiguration(path: "a", method: .post)).timeout == .seconds(9))
        #expect(try applied(rules, APIConfiguration(path: "a")).timeout == nil)
        #expect(try applied(rules, APIConfiguration(path: "a.png")).usesCDN)
    }

    @Test(arguments: [
        ("/**/posts", "posts", true), ("/**/posts", "users/posts", true), ("/**/posts", "users/7/posts", true),
        ("/users/**/posts", "users/posts", true), ("/users/**/posts", "users/7/posts", true),
        ("/users/**/posts", "users/7posts", false), ("/users/**/posts", "usersposts", false),
        ("/users**/posts", "users/posts", true), ("/users**/posts", "users7/x/posts", true),
        ("/**/**/x", "x", true), ("https://**/x", "x", true), ("https://**/h", "", false),
    ])
    func `two stars in the URL pattern of a configuration rule match any number of path segments`(
        pattern: String,
        path: String,
        isMatch: Bool
    ) throws {
        let url = try RequestURL(validating: "https://h/\(path)".hasSuffix("/") ? "https://h" : "https://h/\(path)")

        #expect(try URLPattern(pattern).matches(url, base: RequestURL(validating: "https://h")) == isMatch)
    }

    // URLs contain escaped characters, but patterns need not.
    @Test(arguments: [
        ("/话题/*", "话题/7", true), ("/话题/*", "%E8%AF%9D%E9%A2%98/7", true), ("/%E8%AF%9D%E9%A2%98/*", "话题/7", true),
        ("/a b/**", "a b/c", true), ("/话/*", "话题/7", false),
    ])
    func `the URL pattern of a configuration rule matches escaped and unescaped forms of a character alike`(
        pattern: String,
        path: String,
        isMatch: Bool
    ) throws {
        var rules = ConfigurationRules()
        rules.add(URLPattern(pattern)) { $0.usesCDN = true }

        #expect(try applied(rules, APIConfiguration(path: path)).usesCDN == isMatch)
    }

    // RFC 3986 section 6.2.2.1.
    @Test(arguments: [
        ("https://API.example.com/**", "https://api.Example.com/a", true),
        ("HTTPS://*.Example.com/A", "https://cdn.example.COM/A", true),
        ("https://*.example.com/a", "https://cdn.example.com/A", false),
        ("https://**", "https://EXAMPLE.com/A", true),
        ("https://**/A", "https://EXAMPLE.com/b/A", true),
        ("https://**/A", "https://EXAMPLE.com/b/a", false),
        ("https://USER@example.com/", "https://user@example.com/", false),
        ("https://USER@Example.com/", "https://USER@eXample.com/", true),
        ("/A/*", "https://H/v1/A/7", true),
        ("/A/*", "https://h/V1/A/7", false),
        ("/A/*", "https://h/v1/a/7", false),
    ])
    func `the URL pattern of a configuration rule compares hosts case-insensitively and paths case-sensitively`(
        pattern: String,
        url: String,
        isMatch: Bool
    ) throws {
        let url = try RequestURL(validating: url)

        #expect(try URLPattern(pattern).matches(url, base: RequestURL(validating: "https://h/v1")) == isMatch)
        #expect(try URLPattern(pattern).matches(url, base: RequestURL(validating: "https://H/v1")) == isMatch)
    }

    @Test(
        arguments: ["https://h/v1", "https://h/v1/", "https://h", "https://h/", "https://h/v1?key=1"],
        ["/**", "**", "*", "/", "/**/*"]
    )
    func `a configuration rule whose pattern requires no path segment matches the base URL itself`(
        base: String,
        pattern: String
    ) throws {
        var rules = ConfigurationRules()
        rules.add(URLPattern(pattern)) { $0.usesCDN = true }

        let result = try rules.applied(to: APIConfiguration(), by: RequestGenerator(), on: BaseURL(base))

        #expect(result.usesCDN)
    }

    @Test(arguments: ["/users/**", "/?", "/**/x"])
    func `a configuration rule whose pattern requires a path segment does not match the base URL itself`(
        pattern: String
    ) throws {
        let url = try RequestURL(validating: "https://h/users")

        #expect(try !URLPattern(pattern).matches(url, base: RequestURL(validating: "https://h/users")))
    }

    @Test func `a configuration rule matches the URL and method of a prebuiltRequest`() throws {
        var rules = ConfigurationRules()
        rules.add("/images/**") { $0.usesCDN = true }
        rules.add("/**", methods: [.post]) { $0.responseBodyLimit = 7 }
        rules.add("/**", methods: [.get]) { $0.timeout = .seconds(1) }
        var configuration = APIConfiguration(path: "other")
        configuration.prebuiltRequest = HTTPRequest(
            method: .post,
            url: try RequestURL(validating: "https://h/v1/images/1")
        )

        let result = try applied(rules, configuration)

        #expect(result.usesCDN)
        #expect(result.responseBodyLimit == 7)
        #expect(result.timeout == nil)
    }

    @Test func `matching a URL pattern with many wildcards does not take exponential time`() throws {
        let pattern = URLPattern("/" + String(repeating: "*a", count: 200) + "b")
        let url = try RequestURL(validating: "https://h/" + String(repeating: "a", count: 2000))

        #expect(try !pattern.matches(url, base: RequestURL(validating: "https://h")))
    }
}
