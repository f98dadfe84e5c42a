import Testing

@testable import yard

@Suite struct ForumDataTests {
    @Test func `the last page has what is left`() {
        let page = ForumData.release.page(3, size: 20)

        #expect(page.items.map(\.id) == Array(41...57))
        #expect(page.total == 57)
    }

    // A number from the request, which a product that overflows would turn into a negative count to drop.
    @Test func `a page far after the last one is empty`() {
        #expect(ForumData.release.page(.max, size: 20).items.isEmpty)
    }
}
