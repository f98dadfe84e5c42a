/// An array of which one broken element does not spoil the others.
///
///     struct Answer: Decodable { var topics: LossyArray<Topic> }
///
/// The elements that can be decoded are there in their order; for the others ``failures`` says which and why.
public struct LossyArray<Element: Decodable> {
    /// An element that could not be decoded.
    public struct ElementFailure: Sendable, Hashable {
        /// Its index in the answer.
        public var index: Int
        /// What is wrong with it, and where.
        public var failure: DecodingFailure
    }

    /// The elements that could be decoded.
    public var elements: [Element]
    /// The others.
    public var failures: [ElementFailure]

    /// Creates an array.
    public init(_ elements: [Element] = [], failures: [ElementFailure] = []) {
        self.elements = elements
        self.failures = failures
    }
}

extension LossyArray: Sendable where Element: Sendable {}
extension LossyArray: Equatable where Element: Equatable {}

extension LossyArray: Decodable {
    /// Decodes what can be decoded.
    ///
    /// - Throws: What the decoder throws when this is no array.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init()
        while !container.isAtEnd {
            let index = container.currentIndex
            switch try container.decode(Attempt.self) {
            case .element(let element): elements.append(element)
            case .failure(let failure): failures.append(ElementFailure(index: index, failure: failure))
            }
        }
    }

    /// Takes an element off the array whether it can be decoded or not; else the decoder would not move on.
    private enum Attempt: Decodable {
        case element(Element)
        case failure(DecodingFailure)

        init(from decoder: any Decoder) throws {
            do {
                // By the container, since the decoder itself reads dates, URLs, decimals and bytes in its own ways.
                self = .element(try decoder.singleValueContainer().decode(Element.self))
            } catch let error as DecodingError {
                self = .failure(DecodingFailure(error))
            } catch {
                let place = DecodingFailure.text(decoder.codingPath)
                self = .failure(DecodingFailure(.corrupted, keyPath: place, detail: "\(type(of: error))"))
            }
        }
    }
}

extension LossyArray: PageContent {
    /// The elements that could be decoded; the others are its broken items.
    public var page: Page<Element> {
        var page = Page(elements)
        page.brokenItems = failures.count
        return page
    }
}
