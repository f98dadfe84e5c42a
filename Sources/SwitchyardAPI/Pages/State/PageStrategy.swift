import SwitchyardHTTP

/// A rule that names the next page of a list.
///
/// ### Choose one
/// ``pageNumber``, ``offset``, ``cursor``, ``lastID(_:)`` or ``link``.
///
/// ### Make your own
/// Pass the first position and a rule. The rule is not called if the page is known to be the last: if it reports so
/// itself, or if it is empty and `endsWithEmptyPage` is `true`.
public struct PageStrategy<Item: Sendable>: Sendable {
    /// Where the list starts.
    package let first: PagePosition
    /// Names the position after a page; `nil` is the end of the list.
    package let next: @Sendable (PageRequest, Page<Item>) throws(APIError) -> PagePosition?
    /// Whether an empty page is the last one, unless it reports that there is more.
    ///
    /// It is `false` if each response names the next page, because filters may leave a page empty.
    package let endsWithEmptyPage: Bool

    /// Creates a strategy.
    ///
    /// - Parameters:
    ///   - first: The first position.
    ///   - endsWithEmptyPage: Whether an empty page is the last one, unless it reports that there is more.
    ///   - next: Returns the position after a page.
    public init(
        first: PagePosition,
        endsWithEmptyPage: Bool = true,
        next: @escaping @Sendable (PageRequest, Page<Item>) throws(APIError) -> PagePosition?
    ) {
        self.first = first
        self.endsWithEmptyPage = endsWithEmptyPage
        self.next = next
    }

    /// Page numbers from 1.
    public static var pageNumber: PageStrategy { pageNumber(from: 1) }

    /// Returns the strategy of page numbers from `first`.
    ///
    /// The list ends by its total, counted in pages as large as the server returns but no larger than requested, or
    /// else with the first empty page. A 404 or 400 after as many items as the total counts as an empty page.
    public static func pageNumber(from first: Int) -> PageStrategy {
        PageStrategy(first: .number(first)) { request, page in
            let (next, overflow) = request.number.addingReportingOverflow(1)
            guard !overflow else { return nil }
            if page.hasMore == nil, let total = page.total {
                let size = min(request.size, max(request.largestPage, page.arrivedItems))
                let pages = pageCount(items: total, size: size)
                return request.index < pages - 1 ? .number(next) : nil
            }
            return .number(next)
        }
    }

    /// Numbers of items to skip, counted by the items that came.
    ///
    /// A server that hands out fewer items than asked for is thereby followed without a gap.
    public static var offset: PageStrategy {
        PageStrategy(first: .offset(0)) { request, page in
            let (next, overflow) = request.offset.addingReportingOverflow(page.arrivedItems)
            guard !overflow else { return nil }
            if page.hasMore == nil, let total = page.total { return next < total ? .offset(next) : nil }
            return .offset(next)
        }
    }

    /// Opaque cursors in each response that name the next page.
    public static var cursor: PageStrategy {
        PageStrategy(first: .first, endsWithEmptyPage: false) { _, page in
            page.nextCursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
    }

    /// Returns the strategy that continues after the id of the last loaded item.
    ///
    /// A page without items that is not the last one does not name the next page, so the load after it fails.
    public static func lastID(_ id: @escaping @Sendable (Item) -> String) -> PageStrategy {
        PageStrategy(first: .first) { request, page in page.items.last.map { .after(id($0)) } ?? request.position }
    }

    /// URLs of one origin in each response that name the next page.
    public static var link: PageStrategy { link(allowsOtherOrigins: false) }

    /// Returns the strategy of URLs in each response that name the next page.
    ///
    /// A plain http link on the host of an https page is followed by https.
    ///
    /// - Parameter allowsOtherOrigins: Whether a link may lead to another scheme, host or port than the page's own URL
    ///   (``Page/url``, or the link that led to it). If not, a page with such a link is accepted, and the load after it
    ///   fails with ``APIError/SecurityReason/foreignOrigin(_:)``. No link leads from https to http: the load after it
    ///   fails with `RequestError.URLReason.downgrade`.
    /// - Returns: The strategy.
    public static func link(allowsOtherOrigins: Bool) -> PageStrategy {
        PageStrategy(first: .first, endsWithEmptyPage: false) { request, page throws(APIError) in
            guard let next = page.nextLink, !next.isEmpty else { return nil }
            guard !page.namesPath, let base = page.url ?? request.link else { return .link(next) }
            let isPath = Origin(next) == nil
            let link = isPath || isPlain(next) && !isPlain(base) ? WebLink.absolute(next, at: base) ?? next : next
            let isForeign = Origin(base) != Origin(link)
            guard allowsOtherOrigins || !isForeign else { throw APIError(.security(.foreignOrigin(link))) }
            guard !isPlain(link) || isPlain(base) else { throw downgrade(to: link, from: base) }
            return .link(link)
        }
    }
}

/// Whether a URL is plain http.
private func isPlain(_ url: String) -> Bool { Origin(url)?.scheme == "http" }

/// The error of a link that leads from https to http.
private func downgrade(to link: String, from base: String) -> APIError {
    let origin = RequestURL(base)?.origin.description ?? base
    return APIError(.configuration(.request(.url(text: link, reason: .downgrade(from: origin)))))
}

/// The number of pages of `size` items that `items` items fill; in integers, so that nothing is lost.
func pageCount(items: Int, size: Int) -> Int {
    let size = max(1, size)
    let (quotient, remainder) = max(0, items).quotientAndRemainder(dividingBy: size)
    return quotient + (remainder > 0 ? 1 : 0)
}
