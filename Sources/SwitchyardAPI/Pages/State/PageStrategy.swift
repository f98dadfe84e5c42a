import SwitchyardHTTP

/// A rule that determines the next page of a list.
///
/// ### Choose a strategy
/// ``pageNumber``, ``offset``, ``cursor``, ``lastID(_:)`` or ``link``.
///
/// ### Create your own
/// Pass the first position and a closure. The closure is not called if the page is known to be the last page: the page
/// itself reports this, or the page is empty and `endsWithEmptyPage` is `true`.
public struct PageStrategy<Item: Sendable>: Sendable {
    /// The position at which the list starts.
    package let first: PageRequest.Position
    /// A closure that returns the position after a page, or `nil` at the end of the list.
    package let next: @Sendable (PageRequest, Page<Item>) throws(APIError) -> PageRequest.Position?
    /// Whether an empty page is the last page, unless it reports that there is a further page.
    ///
    /// The value is `false` if each response determines the next page, because filters may leave a page empty.
    package let endsWithEmptyPage: Bool

    /// Creates a strategy.
    ///
    /// - Parameters:
    ///   - first: The position of the first page.
    ///   - endsWithEmptyPage: Whether an empty page is the last page, unless it reports that there is a further page.
    ///   - next: Returns the position after a page, or `nil` at the end of the list.
    public init(
        first: PageRequest.Position,
        endsWithEmptyPage: Bool = true,
        next: @escaping @Sendable (PageRequest, Page<Item>) throws(APIError) -> PageRequest.Position?
    ) {
        self.first = first
        self.endsWithEmptyPage = endsWithEmptyPage
        self.next = next
    }

    /// A strategy that requests page numbers from 1.
    public static var pageNumber: PageStrategy { pageNumber(from: 1) }

    /// Returns a strategy that requests page numbers from `first`.
    ///
    /// The list ends after the number of pages that its total implies. This number is calculated with the size of the
    /// pages that the server returns, but at most with the requested size. Without a total, the list ends with the
    /// first empty page. If as many items as the total have arrived, a 404 or 400 counts as an empty page.
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

    /// A strategy that requests offsets: the number of items that have arrived so far.
    ///
    /// This strategy skips no items if the server returns fewer items than requested.
    public static var offset: PageStrategy {
        PageStrategy(first: .offset(0)) { request, page in
            let (next, overflow) = request.offset.addingReportingOverflow(page.arrivedItems)
            guard !overflow else { return nil }
            if page.hasMore == nil, let total = page.total { return next < total ? .offset(next) : nil }
            return .offset(next)
        }
    }

    /// A strategy for lists whose responses contain an opaque cursor for the next page.
    public static var cursor: PageStrategy {
        PageStrategy(first: .first, endsWithEmptyPage: false) { _, page in
            page.nextCursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
    }

    /// Returns a strategy that continues after the id of the last loaded item.
    ///
    /// If a page without items is not the last page, the next page is unknown, so the next load fails.
    public static func lastID(_ id: @escaping @Sendable (Item) -> String) -> PageStrategy {
        PageStrategy(first: .first) { request, page in page.items.last.map { .after(id($0)) } ?? request.position }
    }

    /// A strategy for lists whose responses contain the URL of the next page, which must have the same origin.
    public static var link: PageStrategy { link(allowsOtherOrigins: false) }

    /// Returns a strategy for lists whose responses contain the URL of the next page.
    ///
    /// If the page was loaded with https, a plain http link to the same host is followed with https.
    ///
    /// - Parameter allowsOtherOrigins: Whether a link may lead to another scheme, host or port than the page's own URL
    ///   (``Page/url``, or the link that led to the page). If `false`, a page with such a link is accepted, but the
    ///   next load fails with ``APIError/SecurityReason/foreignOrigin(_:)``. A link from https to http on another host
    ///   is never followed: the next load fails with `RequestError.URLReason.downgrade`.
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

/// Returns whether a URL is plain http.
private func isPlain(_ url: String) -> Bool { Origin(url)?.scheme == "http" }

/// Returns the error of a link that leads from https to http.
private func downgrade(to link: String, from base: String) -> APIError {
    let origin = RequestURL(base)?.origin.description ?? base
    return APIError(.configuration(.request(.url(text: link, reason: .downgrade(from: origin)))))
}

/// Returns the number of pages of `size` items that `items` items fill.
///
/// Integers are used so that no digit is lost.
func pageCount(items: Int, size: Int) -> Int {
    let size = max(1, size)
    let (quotient, remainder) = max(0, items).quotientAndRemainder(dividingBy: size)
    return quotient + (remainder > 0 ? 1 : 0)
}
