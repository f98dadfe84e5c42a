import Foundation

/// The part of a response that is the value, and the steps that make the value if its type does not define them.
///
/// Values of one type that differ in their part are stored separately, because the key names the whole response.
package struct ResponsePart: Sendable, Hashable {
    /// A step from the body to the value.
    enum Step: Sendable, Hashable {
        /// Removes an envelope.
        case frame(Envelope)
        /// Going to a key path.
        case keyPath(String)
        /// Removes `null` members and elements.
        case withoutNulls
        /// Reads text in this encoding if the response names none.
        case text(String.Encoding)
        /// A function of the app's; two of them are taken for one.
        case mapped
        /// The first of several serialisers that can read it.
        case first([ResponsePart])
    }

    /// All of the body.
    static let whole = ResponsePart()

    private var steps: [Step]

    init(_ steps: Step...) {
        self.steps = steps
    }

    /// The part of this part to which one more step leads.
    func after(_ step: Step) -> ResponsePart {
        var part = self
        part.steps.append(step)
        return part
    }

    /// The part at a key path within this one; all of it without one.
    func at(_ keyPath: String?) -> ResponsePart {
        guard let keyPath, !keyPath.isEmpty else { return self }
        return after(.keyPath(keyPath))
    }
}
