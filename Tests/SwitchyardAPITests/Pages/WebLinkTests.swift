import SwitchyardAPI
import Testing

@Suite struct WebLinkTests {
    @Test(arguments: [
        ("title*=UTF-8'de'n%C3%A4chste", "nächste"), ("title*=iso-8859-1''caf%E9", "café"),
        ("title=plain; title*=UTF-8''%E2%82%AC", "€"), ("title*=UTF-8''%E2%82%AC; title=plain", "€"),
        ("title*=UTF-8''first; title*=UTF-8''second", "first"), ("title=plain; title*=UTF-8''%zz", "plain"),
        ("title=plain; title*=nothing", "plain"), ("title*=UTF-16''x", nil),
    ])
    func `the title* parameter of a Link header field is decoded and takes precedence over title`(
        parameters: String,
        title: String?
    ) {
        let links = WebLink.parse(["<a>; rel=next; \(parameters)"])

        #expect(links.map(\.relations) == [["next"]])
        #expect(links.first?.parameters.map(\.name) == (title == nil ? [] : ["title"]))
        #expect(links.first?.parameters.first?.value == title)
    }

    @Test func `the rel* and anchor* parameters of a Link header field are not decoded`() {
        let links = WebLink.parse(["<a>; rel*=UTF-8''next; rel=prev; anchor*=UTF-8''x"])

        #expect(links == [WebLink(target: "a", relations: ["prev"])])
    }

    // RFC 8288 appendix B.3, step 7.4: an unquoted value ends only at a semicolon or a comma.
    @Test func `an unquoted value in a Link header field may contain equals signs and spaces`() {
        let links = WebLink.parse(["<a>; cursor=YWJj== ; title=two words; rel=next, <b>; rel=prev last"])

        #expect(links.map(\.relations) == [["next"], ["prev", "last"]])
        #expect(links.first?.parameters.map(\.value) == ["YWJj==", "two words"])
    }

    @Test(arguments: [
        ("/other", nil), ("https://b.example/list", nil), ("#part", nil), ("", "https://a.example/2"),
        ("/list", "https://a.example/2"), ("https://a.example/list", "https://a.example/2"),
    ])
    func `a Link header field names the next page only if its anchor is the current page`(anchor: String, next: String?)
    {
        let line = "</2>; rel=next; anchor=\"\(anchor)\""

        #expect(Page([1], linkHeader: [line], url: "https://a.example/list").nextLink == next)
    }

    // RFC 3986 section 2.4: an escaped character is not escaped again, even if the server left others unescaped.
    @Test(arguments: [
        ("/list?page[number]=2&q=a%20b", "/list?page%5Bnumber%5D=2&q=a%20b"), ("?after=x|y%3D", "/list?after=x%7Cy%3D"),
        ("https://a.example/l?q=ü%20", "/l?q=%C3%BC%20"), ("/l?q=%E9 x#top%20a b", "/l?q=%E9%20x#top%20a%20b"),
    ])
    func `percent escapes in the target of a Link header field are kept`(target: String, expected: String) {
        let line = "<\(target)>; rel=next; anchor=\"/list?f[a]=%20\""

        let page = Page([1], linkHeader: [line], url: "https://a.example/list?f%5Ba%5D=%20")
        #expect(page.nextLink == "https://a.example\(expected)")
    }

    @Test func `the target of a Link header field may be a URL without a server, such as a mailto URL`() {
        #expect(WebLink(target: "mailto:a@b.example", relations: []).resolved(against: "") == "mailto:a@b.example")
    }

    @Test func `a link whose anchor is another resource does not hide the next link of this page`() {
        let lines = ["</9>; rel=next; anchor=\"/other\", </2>; rel=next"]

        #expect(Page([1], linkHeader: lines, url: "https://a.example/list").nextLink == "https://a.example/2")
    }

    @Test(arguments: ["nächste 100%", "a\"b\\c", ""])
    func `the title of a link does not change when the link is written and parsed`(title: String) {
        let link = WebLink(target: "a", relations: ["next"], parameters: [.init(name: "title", value: title)])

        #expect(link.description.utf8.allSatisfy { $0 < 128 })
        #expect(WebLink.parse([link.description]) == [link])
    }
}
