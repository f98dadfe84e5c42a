/// An array that skips elements which cannot be decoded.
///
///     struct Answer: Decodable { var topics: LossyArray<Topic> }
///
/// The valid elements keep their order; ``failures`` lists the others with the reason for each.
public struct LossyArray<Element: Decodable> {
    /// An element that could not be decoded.
    public struct ElementFailure: Sendable, Hashable {
        /// The index of the element in the response.
        public var index: Int
        /// The reason, and its location.
        public var failure: DecodingFailure
    }

    /// The elements that could be decoded.
    public var elements: [Element]
    /// The others.
    public var failures: [ElementFailure]

    /// Creates an array.
    package init(_ elements: [Element] = [], failures: [ElementFailure] = []) {
        self.elements = elements
        self.failures = failures
    }
}

extension LossyArray: Sendable where Element: Sendable {}
extension LossyArray: Equatable where Element: Equatable {}

extension LossyArray: Decodable {
    /// Decodes the valid elements.
    ///
    /// - Throws: The decoder's error if the value is not an array.
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
