import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@Suite struct URLGuardTests {
    // MARK: - A question mark at the end of a query (RFC 3986 section 3.4 allows it in a query)

    @Test(arguments: [
        ("search?q=why?", "https://api.example.com/v1/search?q=why?&page=2"),
        ("search?q=why?&", "https://api.example.com/v1/search?q=why?&page=2"),
        ("search??", "https://api.example.com/v1/search??&page=2"),
        ("search?", "https://api.example.com/v1/search?page=2"),
        ("https://o.example/x?q=why?", "https://o.example/x?q=why?&page=2"),
    ])
    func `a parameter that ends in a question mark stays separate from the next parameter`(
        path: String,
        expected: String
    ) throws {
        let configuration = APIConfiguration(path: path, query: ["page": 2])

        #expect(try BuiltRequest.url(configuration) == expected)
    }

    @Test func `a query value that ends in a question mark stays separate from a custom query`() throws {
        let configuration = APIConfiguration(path: "search?q=why?", query: ["page": 2])

        #expect(
            try BuiltRequest.url(configuration) { $0.customQuery = { _ in "page=2" } }
                == "https://api.example.com/v1/search?q=why?&page=2"
        )
    }

    @Test func `a base URL's query that ends in a question mark stays separate from the query of the path`() throws {
        #expect(
            try BuiltRequest.url(APIConfiguration(path: "users?p=2"), on: "https://h/v1?q=why?")
                == "https://h/v1/users?q=why?&p=2"
        )
        let page = try #require(RequestURL("https://h/v1?q=why?"))
        #expect(try page.appending(path: "users?p=2").text == "https://h/v1/users?q=why?&p=2")
    }

    // MARK: - Values of templates

    @Test(arguments: [".", ".."])
    func `a dot segment is allowed as the value of a query parameter`(value: String) throws {
        var configuration = APIConfiguration(path: "search?q={q}")
        configuration.pathValues = ["q": value]

        #expect(try BuiltRequest.url(configuration) == "https://api.example.com/v1/search?q=\(value)")
    }

    @Test(arguments: ["compare/{a}..{b}", "files/{a}.{b}", "files/.{a}", "files{/a}{.b}", "files/{.a,b}"])
    func `empty path values are rejected if they turn a path segment into a dot segment`(path: String) {
        var configuration = APIConfiguration(path: path, method: .delete)
        configuration.pathValues = ["a": "", "b": ""]

        // Otherwise the request would go to the collection or its parent.
        guard case .template(path, .unusableValue) = BuiltRequest.failure(configuration) else {
            Issue.record("built \((try? BuiltRequest.url(configuration)) ?? "nothing")")
            return
        }
    }

    @Test(arguments: [
        ("files/{+a}{b}", "a/", ".."), ("files/{+a}{b}", "a/", ""), ("x/{a}{+b}", "..", "/y"),
        ("x/{a}{+b}", "..", "?q"),
    ])
    func `path values are rejected if they form a dot segment or an empty segment next to a reserved expansion`(
        path: String,
        first: String,
        second: String
    ) {
        var configuration = APIConfiguration(path: path, method: .delete)
        configuration.pathValues = ["a": first, "b": second]

        guard case .template(path, .unusableValue) = BuiltRequest.failure(configuration) else {
            Issue.record("built \((try? BuiltRequest.url(configuration)) ?? "nothing")")
            return
        }
    }

    @Test(arguments: [("users{+a}", "/7"), ("files/{+a}", "docs/"), ("files/{+a}", "a/b?c=1")])
    func `a path value in a reserved expansion may contain slashes, also at its start or end`(
        path: String,
        value: String
    )
        throws
    {
        var configuration = APIConfiguration(path: path)
        configuration.pathValues = ["a": value]

        #expect(try BuiltRequest.url(configuration).hasSuffix(value))
    }

    @Test(arguments: ["a/..", "docs/."])
    func `a path value in a reserved expansion may contain dot segments`(value: String) throws {
        var configuration = APIConfiguration(path: "files/{+a}")
        configuration.pathValues = ["a": value]

        let base = "https://api.example.com/v1/files/"
        #expect(try BuiltRequest.url(configuration) == (value == "a/.." ? base : "\(base)docs/"))
    }

    // MARK: - Lists with commas

    @Test func `a comma-separated list in a URL keeps its elements when another parameter changes`() throws {
        var options = ParameterEncodingOptions()
        options.arrays = .commaSeparated
        let link = try #require(RequestURL("https://h/x?ids=1,2&page=1"))

        #expect(try link.setting(["page": 2], options: options).text == "https://h/x?ids=1,2&page=2")
    }

    // MARK: - Characters that are invalid in a URL

    @Test(arguments: ["&", " ", "\r\n", "#"])
    func `characters that are invalid in a URL are escaped even if the encoding options allow them`(separator: String)
        throws
    {
        var options = ParameterEncodingOptions()
        options.allowedCharacters = .printable
        options.separator = separator
        var configuration = APIConfiguration(path: "x", query: ["a": "1 2#3", "b": 4])
        configuration.parameterOptions = options

        let url = try BuiltRequest.request(configuration).url
        #expect(!url.text.contains(" ") && !url.text.contains("#"))
        #expect(Parameters(parsing: url.query ?? "") == ["a": "1 2#3", "b": "4"])
    }
}
