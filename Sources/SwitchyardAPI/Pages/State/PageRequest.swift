extension PageRequest {
    /// The position at which a page starts.
    public enum Position: Sendable, Hashable {
        /// The first page of a list in which each response determines the next page.
        case first
        /// The page with this number.
        case number(Int)
        /// The page that starts after this number of items.
        case offset(Int)
        /// The page that the server identifies by an opaque text, which it sent with the previous page.
        case cursor(String)
        /// The page after the item with this id.
        case after(String)
        /// The page at this URL, which the server sent with the previous page.
        case link(String)
    }
}

/// The description of a page to load.
public struct PageRequest: Sendable {
    /// The position at which the page starts.
    public let position: PageRequest.Position
    /// The number of pages before this page.
    public let index: Int
    /// The number of items to request, at least 1.
    public let size: Int
    /// The largest number of items of any earlier page.
    ///
    /// The number is less than ``size`` if the server limits its pages to this number of items.
    let largestPage: Int

    /// Creates a request.
    ///
    /// A size below 1 becomes 1. An index below 0 becomes 0.
    public init(position: PageRequest.Position, index: Int, size: Int) {
        self.init(position: position, index: index, size: size, largestPage: 0)
    }

    init(position: PageRequest.Position, index: Int, size: Int, largestPage: Int) {
        self.position = position
        self.index = max(0, index)
        self.size = max(1, size)
        self.largestPage = largestPage
    }

    /// The page number: the number that the strategy uses, or the position of the page, counted from 1, if the strategy
    /// uses no numbers.
    public var number: Int {
        if case .number(let number) = position { number } else { index == .max ? .max : index + 1 }
    }

    /// The number of items before the page: the offset that the strategy uses, or the number of items in full pages if
    /// the strategy uses no offsets.
    public var offset: Int {
        if case .offset(let offset) = position { return offset }
        let (product, overflow) = index.multipliedReportingOverflow(by: size)
        return overflow ? .max : product
    }

    /// The cursor to send, or `nil` for the first page.
    public var cursor: String? {
        if case .cursor(let cursor) = position { cursor } else { nil }
    }

    /// The id of the last item before the page, or `nil` for the first page.
    public var lastID: String? {
        if case .after(let id) = position { id } else { nil }
    }

    /// The URL of the page, or `nil` for the first page.
    public var link: String? {
        if case .link(let link) = position { link } else { nil }
    }

    /// Whether this is the first page.
    public var isFirst: Bool { index == 0 }
}

extension PageRequest: Hashable {
    /// Returns whether both requests are for the same page.
    ///
    /// Only `position`, `index` and `size` are compared, and not `largestPage`.
    public static func == (left: PageRequest, right: PageRequest) -> Bool {
        left.position == right.position && left.index == right.index && left.size == right.size
    }

    /// Hashes the position, the index and the size of the page.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(position)
        hasher.combine(index)
        hasher.combine(size)
    }
}
