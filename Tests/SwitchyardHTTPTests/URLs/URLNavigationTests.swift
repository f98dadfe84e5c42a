import SwitchyardClient
import SwitchyardHTTP
import Testing

@Suite struct URLNavigationTests {
    private let page = RequestURL("https://h/v1/topics?page=2&sort=new")

    @Test(arguments: [
        ("7", "https://h/v1/topics/7?page=2&sort=new"), ("/7/", "https://h/v1/topics/7/?page=2&sort=new"),
        ("", "https://h/v1/topics?page=2&sort=new"), ("7?x=1", "https://h/v1/topics/7?page=2&sort=new&x=1"),
    ])
    func `a child path is appended to the URL's path`(path: String, expected: String) throws {
        #expect(try #require(page).appending(path: path).text == expected)
    }

    @Test(arguments: ["../7", "http://other.example/7"])
    func `a child path that leads to another folder or host is an error`(path: String) throws {
        let page = try #require(page)

        #expect(throws: RequestError.self) { try page.appending(path: path) }
    }

    @Test(arguments: [
        ("users", "https://h/v1/users"), ("/users", "https://h/users"), ("?page=3", "https://h/v1/topics?page=3"),
        ("//other.example/x", "https://other.example/x"), ("http://h/", "http://h/"),
    ])
    func `a relative URL is resolved like a link in a web page`(reference: String, expected: String) throws {
        #expect(try #require(page).resolving(reference).text == expected)
    }

    @Test func `resolving a nil link against a URL returns nil`() throws {
        let page = try #require(page)
        let next: String? = nil

        #expect(try page.resolving(next) == nil)
        #expect(try page.resolving(Optional("x"))?.text == "https://h/v1/x")
    }

    @Test func `the query parameters of a URL can be replaced, removed and sorted`() throws {
        let page = try #require(page)

        #expect(try page.setting(["page": 3]).text == "https://h/v1/topics?page=3&sort=new")
        #expect(try page.setting(["a": "ü"]).text == "https://h/v1/topics?a=%C3%BC&page=2&sort=new")
        #expect(try page.setting(["page": nil]).text == "https://h/v1/topics?sort=new")
        #expect(try page.setting(["page": nil, "sort": nil]).text == "https://h/v1/topics")
    }

    @Test func `a query parameter without an equals sign keeps this form`() throws {
        let link = try #require(RequestURL("https://h/x?compact&page=1&empty="))

        #expect(try link.setting(["page": 2]).text == "https://h/x?compact&empty=&page=2")
    }

    @Test func `query parameters are found if their separator is not an ampersand`() throws {
        var options = ParameterEncodingOptions()
        options.separator = ";"
        let link = try #require(RequestURL("https://h/x?a=1;page=1"))

        #expect(try link.setting(["page": 2], options: options).text == "https://h/x?a=1;page=2")
    }

    // A server with another character set sends links in that character set.
    @Test func `percent-escapes in another character set are kept`() throws {
        let link = try #require(RequestURL("https://h/x?q=%C4%E3+%2B&%E9=1&page=1&%E9=2&a=%FF"))

        #expect(try link.setting(["page": 2]).text == "https://h/x?a=%FF&page=2&q=%C4%E3+%2B&%E9=1&%E9=2")
        #expect(try link.setting(["q": nil, "a": "ü"]).text == "https://h/x?a=%C3%BC&page=1&%E9=1&%E9=2")
    }

    @Test func `setting a query parameter to an array or dictionary replaces the values of its name`() throws {
        let list = try #require(RequestURL("https://h/x?tags%5B%5D=a&tags[]=b&f[n][]=1&f.n=2&tagsy=c"))

        #expect(try list.setting(["tags": ["d"]]).text == "https://h/x?f.n=2&f%5Bn%5D%5B%5D=1&tags%5B%5D=d&tagsy=c")
        #expect(try list.setting(["tags": nil, "f": nil]).text == "https://h/x?f.n=2&tagsy=c")
        var dots = ParameterEncodingOptions()
        dots.nesting = .dots
        #expect(
            try list.setting(["f": ["n": 3] as Parameters, "tags": nil], options: dots).text
                == "https://h/x?f.n=3&tagsy=c"
        )
    }

    @Test(arguments: ["page_size=1", "pageSize=1", "page_size[]=1"])
    func `setting a query parameter replaces the parameter with the same encoded name`(query: String) throws {
        let url = try #require(RequestURL("https://h/x?\(query)&sort=new"))
        var options = ParameterEncodingOptions()
        options.keyCase = .snakeCase

        #expect(try url.setting(["pageSize": 2], options: options).text == "https://h/x?page_size=2&sort=new")
        #expect(try url.setting(["pageSize": nil], options: options).text == "https://h/x?sort=new")
    }
}
