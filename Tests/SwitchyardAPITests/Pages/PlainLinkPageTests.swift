import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

/// Plain http links to the next page on pages loaded over https.
@Suite(.timeLimit(.minutes(20))) struct PlainLinkPageTests {
    private func next(_ link: String, allowsOtherOrigins: Bool = false) throws -> PageRequest.Position? {
        var page = Page([1], nextLink: link)
        page.url = "https://host.example:8443/items"
        let strategy = PageStrategy<Int>.link(allowsOtherOrigins: allowsOtherOrigins)
        return try strategy.next(PageRequest(position: .first, index: 0, size: 1), page)
    }

    @Test(
        arguments: [
            "http://host.example/items?page=2", "http://host.example:80/items?page=2",
            "http://host.example:8443/items?page=2", "/items?page=2", "https://host.example:8443/items?page=2",
        ],
        [true, false]
    )
    func `an http link on the host of an https page becomes https`(link: String, allowsOthers: Bool) throws {
        let position = try next(link, allowsOtherOrigins: allowsOthers)

        #expect(position == .link("https://host.example:8443/items?page=2"))
    }

    @Test(arguments: ["http://host.example:8000/items?page=2", "http://backend.local/items?page=2"])
    func `a link that leads from https to http is a typed error`(link: String) {
        #expect(throws: APIError(.security(.foreignOrigin(link)))) { try next(link) }
        let reason = RequestError.URLReason.downgrade(from: "https://host.example:8443")
        #expect(throws: APIError(.configuration(.request(.url(text: link, reason: reason))))) {
            try next(link, allowsOtherOrigins: true)
        }
    }

    @Test func `an http link in the Link header field becomes https`() {
        let page = Page([1], linkHeader: [#"<http://host.example/2>; rel="next""#], url: "https://host.example/1")

        #expect(page.nextLink == "https://host.example/2")
        let link = WebLink(target: "http://other.example/2", relations: ["next"])
        #expect(link.resolved(against: "https://host.example/1") == "http://other.example/2")
    }
}
