/// Where a page starts.
public enum PagePosition: Sendable, Hashable {
    /// The first page of a list whose later pages are named by the responses.
    case first
    /// A page by its number.
    case number(Int)
    /// A page by the number of items before it.
    case offset(Int)
    /// A page by the opaque text that the page before it gave.
    case cursor(String)
    /// The page after the item with this id.
    case after(String)
    /// A page by the URL that the page before it gave.
    case link(String)
}

/// Which page to load.
public struct PageRequest: Sendable {
    /// Where the page starts.
    public let position: PagePosition
    /// How many pages come before it, from 0.
    public let index: Int
    /// How many items to ask for; at least 1.
    public let size: Int
    /// The most items that a page before this one had; less than ``size`` where the server allows no more.
    let largestPage: Int

    /// Creates a request; a size below 1 becomes 1, an index below 0 becomes 0.
    public init(position: PagePosition, index: Int, size: Int) {
        self.init(position: position, index: index, size: size, largestPage: 0)
    }

    init(position: PagePosition, index: Int, size: Int, largestPage: Int) {
        self.position = position
        self.index = max(0, index)
        self.size = max(1, size)
        self.largestPage = largestPage
    }

    /// The page's number: the strategy's own number, or the number counted from 1.
    public var number: Int {
        if case .number(let number) = position { number } else { index == .max ? .max : index + 1 }
    }

    /// The number of items before the page: counted by the strategy, else as if all pages were full.
    public var offset: Int {
        if case .offset(let offset) = position { return offset }
        let (product, overflow) = index.multipliedReportingOverflow(by: size)
        return overflow ? .max : product
    }

    /// The cursor to send; `nil` for the first page.
    public var cursor: String? {
        if case .cursor(let cursor) = position { cursor } else { nil }
    }

    /// The id of the item before the page; `nil` for the first page.
    public var lastID: String? {
        if case .after(let id) = position { id } else { nil }
    }

    /// The URL of the page; `nil` for the first page.
    public var link: String? {
        if case .link(let link) = position { link } else { nil }
    }

    /// Whether it is the first page.
    public var isFirst: Bool { index == 0 }
}

extension PageRequest: Hashable {
    /// Whether both request the same page; earlier pages do not matter.
    public static func == (left: PageRequest, right: PageRequest) -> Bool {
        left.position == right.position && left.index == right.index && left.size == right.size
    }

    /// Hashes the position of the page.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(position)
        hasher.combine(index)
        hasher.combine(size)
    }
}
