import SwitchyardAPI
import Testing

@Suite struct WebLinkTests {
    @Test(arguments: [
        ("title*=UTF-8'de'n%C3%A4chste", "nächste"), ("title*=iso-8859-1''caf%E9", "café"),
        ("title=plain; title*=UTF-8''%E2%82%AC", "€"), ("title*=UTF-8''%E2%82%AC; title=plain", "€"),
        ("title*=UTF-8''first; title*=UTF-8''second", "first"), ("title=plain; title*=UTF-8''%zz", "plain"),
        ("title=plain; title*=nothing", "plain"), ("title*=UTF-16''x", nil),
    ])
    func `the extended form of a title is decoded, and wins`(parameters: String, title: String?) {
        let links = WebLink.parse(["<a>; rel=next; \(parameters)"])

        #expect(links.map(\.relations) == [["next"]])
        #expect(links.first?.parameters.map(\.name) == (title == nil ? [] : ["title"]))
        #expect(links.first?.parameters.first?.value == title)
    }

    @Test func `what names a link has no extended form`() {
        let links = WebLink.parse(["<a>; rel*=UTF-8''next; rel=prev; anchor*=UTF-8''x"])

        #expect(links == [WebLink(target: "a", relations: ["prev"])])
    }

    @Test(arguments: [
        ("/other", nil), ("https://b.example/list", nil), ("#part", nil), ("", "https://a.example/2"),
        ("/list", "https://a.example/2"), ("https://a.example/list", "https://a.example/2"),
    ])
    func `the next page is that of a link which starts at this page`(anchor: String, next: String?) {
        let line = "</2>; rel=next; anchor=\"\(anchor)\""

        #expect(Page([1], linkHeader: [line], url: "https://a.example/list").nextLink == next)
    }

    @Test func `a link of another resource hides none of this page`() {
        let lines = ["</9>; rel=next; anchor=\"/other\", </2>; rel=next"]

        #expect(Page([1], linkHeader: lines, url: "https://a.example/list").nextLink == "https://a.example/2")
    }

    @Test(arguments: ["nächste 100%", "a\"b\\c", ""])
    func `a title is read again as it was written`(title: String) {
        let link = WebLink(target: "a", relations: ["next"], parameters: [.init(name: "title", value: title)])

        #expect(link.description.utf8.allSatisfy { $0 < 128 })
        #expect(WebLink.parse([link.description]) == [link])
    }
}
