public import SwitchyardClient

/// What a load of one page brought: the items, and what the answer says about the rest of the list.
///
/// A plain array is a page of which nothing else is known.
public struct Page<Item> {
    /// The items, in the order of the list.
    public var items: [Item]
    /// How many more came that could not be read; 0 unless set.
    ///
    /// They are in no list, but they are part of the page: they count for where the next one starts and whether there
    /// is one.
    public var brokenItems = 0
    /// How many items the whole list has; `nil` when the answer does not say.
    public var total: Int?
    /// Whether there is a page after this one; `nil` when the answer does not say.
    public var hasMore: Bool?
    /// The cursor of the next page; `nil` or empty at the end of a list of cursors.
    public var nextCursor: String?
    /// The URL of the next page, absolute or relative to that of this one; `nil` at the end of a list of links.
    public var nextLink: String?
    /// The URL that the page came from, with which ``nextLink`` is resolved and compared; the link that led to the page
    /// when it is `nil`.
    public var url: String?
    /// What ``relative(to:)`` has made of the next link; relative to no page, as long as it is ``nextLink``.
    private var sharedPath: String?

    /// Creates a page.
    public init(
        _ items: [Item],
        total: Int? = nil,
        hasMore: Bool? = nil,
        nextCursor: String? = nil,
        nextLink: String? = nil
    ) {
        self.items = items
        self.total = total.map { max(0, $0) }
        self.hasMore = hasMore
        self.nextCursor = nextCursor
        self.nextLink = nextLink
    }

    /// Creates a page whose successor is named by the header field `Link` (RFC 8288).
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - linkHeader: The lines of the field; links whose anchor is another resource are not this page's.
    ///   - url: The URL of this page, against which the target is resolved.
    public init(_ items: [Item], linkHeader: [String], url: String) {
        let next = WebLink.parse(linkHeader).first { $0.relations.contains("next") && $0.starts(at: url) }
        self.init(items, nextLink: next?.resolved(against: url))
        self.url = url
    }

    /// Returns the page with its next link as a path below the base URLs of a client's servers, so that the next page fails
    /// over like every call.
    ///
    /// A link that leads elsewhere stays as it is, and so does one of a client that makes more of paths than to put them
    /// behind the base URL (``/SwitchyardClient/NetworkClient/path(of:)``).
    public func relative(to client: NetworkClient) -> Page {
        guard let next = nextLink, let path = client.path(of: url.flatMap { WebLink.absolute(next, at: $0) } ?? next)
        else { return self }
        var page = self
        (page.nextLink, page.sharedPath, page.url) = (path, path, nil)
        return page
    }

    /// Whether the next link is a path below the base URLs, and so to be taken as it is.
    var namesPath: Bool { nextLink != nil && nextLink == sharedPath }

    /// How many items came, those that could not be read among them.
    var arrivedItems: Int { items.count + min(max(0, brokenItems), .max - items.count) }
}

/// What a load may return: a ``Page``, an array of items, or a type of your own that knows its page.
public protocol PageContent<Item> {
    /// The type of the items.
    associatedtype Item

    /// The page.
    var page: Page<Item> { get }
}

extension Page: Sendable where Item: Sendable {}

extension Page: PageContent {
    /// The page itself.
    public var page: Page<Item> { self }
}

extension Array: PageContent {
    /// The items, of which nothing else is known.
    public var page: Page<Element> { Page(self) }
}
