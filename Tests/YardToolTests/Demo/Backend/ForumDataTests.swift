import Testing

@testable import yard

@Suite struct ForumDataTests {
    @Test func `the last page of the demo forum's data has the remaining items`() {
        let page = ForumData.release.page(3, size: 20)

        #expect(page.items.map(\.id) == Array(41...57))
        #expect(page.total == 57)
    }

    // A number from the request. If the product overflowed, `dropFirst` would get a negative count.
    @Test func `a page of the demo forum far beyond the last page is empty`() {
        #expect(ForumData.release.page(.max, size: 20).items.isEmpty)
    }
}
