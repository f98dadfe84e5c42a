import SwitchyardAPI
import SwitchyardFixtures
import Testing

/// Servers whose pages link in circles or have wrong totals.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BadPagesTests {
    private func walk(_ recorder: PageRecorder<Int>, _ load: (PageRequest) -> Page<Int>) async -> (
        pages: Int, end: APIError?
    ) {
        var pages = 0
        do throws(APIError) {
            try await recorder.refresh(load)
            pages = 1
            while true {
                try await recorder.loadMore(load)
                pages += 1
            }
        } catch {
            return (pages, error)
        }
    }

    @Test func `a page of a list that links to itself ends the list`() async {
        let (pages, end) = await walk(PageRecorder(strategy: .link)) { _ in
            Page([1], nextLink: "https://a.example/topics?page=1")
        }

        #expect(pages <= 2 && end == APIError(.list(.repeatedPosition)))
    }

    @Test func `links between pages that form a circle end the list`() async {
        let (pages, end) = await walk(PageRecorder(strategy: .link)) { request in
            let next = request.link == "https://a.example/2" ? "https://a.example/3" : "https://a.example/2"
            return Page([request.index], nextLink: next)
        }

        #expect(pages <= 4 && end == APIError(.list(.repeatedPosition)))
    }

    @Test func `an empty page whose cursor occurred before is an error, not a normal end`() async {
        let recorder = PageRecorder<Int>(strategy: .cursor)
        let (pages, end) = await walk(recorder) { Page($0.isFirst ? [1] : [], nextCursor: "a") }

        #expect(pages == 2 && end == APIError(.list(.repeatedPosition)))
    }

    @Test func `several empty pages in a row end the list even if they promise more pages`() async {
        let (pages, end) = await walk(PageRecorder()) { _ in Page([], hasMore: true) }

        #expect(pages == 3 && end == APIError(.list(.repeatedPosition)))
    }

    @Test func `empty pages are skipped while each has a new cursor`() async {
        let (pages, end) = await walk(PageRecorder(strategy: .cursor)) { request in
            Page(request.index < 20 ? [] : [1], nextCursor: request.index < 20 ? "\(request.index)" : nil)
        }

        #expect(pages == 21 && end == APIError(.list(.noMoreData)))
    }

    @Test func `a relative link to the next page is resolved against the URL of its page`() async {
        let recorder = PageRecorder<Int>(strategy: .link)
        var asked: [String?] = []
        let (_, end) = await walk(recorder) { request in
            asked.append(request.link)
            var page = Page([request.index], nextLink: ["/v1/list?page=2", "?page=3", nil][request.index])
            if request.index == 0 { page.url = "https://a.example/v1/list" }
            return page
        }

        #expect(asked == [nil] + (2...3).map { "https://a.example/v1/list?page=\($0)" })
        #expect(end == APIError(.list(.noMoreData)) && recorder.items == [0, 1, 2])
    }

    @Test(arguments: ["https://evil.example/2", "//evil.example/2"])
    func `a link to a page on another host is not followed, and the items before it are kept`(link: String) async {
        let recorder = PageRecorder<Int>(strategy: .link)
        let (_, end) = await walk(recorder) { request in
            var page = Page([request.index], nextLink: link)
            page.url = "https://a.example/1"
            return page
        }

        #expect(end == APIError(.security(.foreignOrigin("https://evil.example/2"))))
        #expect(recorder.items == [0])
    }

    @Test func `repeated pages of a list add no duplicate items and end the list`() async {
        let recorder = PageRecorder<Int>(pageSize: 2, identifiedBy: \.self)
        let (pages, end) = await walk(recorder) { request in
            let page = request.number <= 3 ? request.number : 1
            return Page([page * 2, page * 2 + 1])
        }

        #expect(recorder.items == [2, 3, 4, 5, 6, 7])
        #expect(pages <= 6 && end == APIError(.list(.repeatedPosition)))
    }

    @Test(arguments: [0, -5, 3, Int.max, Int.min])
    func `a wrong total in a page causes neither a crash nor an endless loop`(total: Int) async {
        let recorder = PageRecorder<Int>(pageSize: 2, identifiedBy: \.self)
        let (pages, end) = await walk(recorder) { request in
            Page(request.number <= 3 ? [request.number * 2, request.number * 2 + 1] : [], total: total)
        }

        #expect(pages <= 4 && end?.code == .noMoreData)
        #expect(recorder.items.count >= 2)
    }

    @Test(arguments: [Int.max, Int.min]) func `a page with a wrong number of broken items causes no crash`(broken: Int)
        async
    {
        let recorder = PageRecorder<Int>()
        let (_, end) = await walk(recorder) { request in
            var page = Page(request.isFirst ? [1, 2] : [])
            page.brokenItems = request.isFirst ? broken : 0
            return page
        }

        #expect(recorder.items == [1, 2] && end == APIError(.list(.noMoreData)))
    }
}
