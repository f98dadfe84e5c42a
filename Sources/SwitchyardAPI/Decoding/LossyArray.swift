/// An array that skips elements that cannot be decoded.
///
///     struct Answer: Decodable { var topics: LossyArray<Topic> }
///
/// The valid elements keep their order. ``failures`` lists the invalid elements with the reason for each.
public struct LossyArray<Element: Decodable> {
    /// An element that could not be decoded.
    public struct ElementFailure: Sendable, Hashable {
        /// The index of the element in the response.
        public var index: Int
        /// The reason why the element could not be decoded, with its key path.
        public var failure: DecodingFailure
    }

    /// The elements that could be decoded.
    public var elements: [Element]
    /// The elements that could not be decoded.
    public var failures: [ElementFailure]

    /// Creates an array from its elements and failures.
    package init(_ elements: [Element] = [], failures: [ElementFailure] = []) {
        self.elements = elements
        self.failures = failures
    }
}

extension LossyArray: Sendable where Element: Sendable {}
extension LossyArray: Equatable where Element: Equatable {}

extension LossyArray: Decodable {
    /// Decodes the valid elements, and records the invalid elements as failures.
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

    /// An element or the failure to decode it.
    ///
    /// Decoding an attempt always succeeds, because otherwise the decoder would not advance to the next element.
    private enum Attempt: Decodable {
        case element(Element)
        case failure(DecodingFailure)

        init(from decoder: any Decoder) throws {
            do {
                // The container decodes the element, because the initializer of `Element` would read dates, URLs,
                // decimals and data in another way.
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
    /// A page with the valid elements.
    ///
    /// The invalid elements are counted in ``Page/brokenItems``.
    public var page: Page<Element> {
        var page = Page(elements)
        page.brokenItems = failures.count
        return page
    }
}
