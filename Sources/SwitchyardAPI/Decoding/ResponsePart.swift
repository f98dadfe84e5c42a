import Foundation

/// The part of a response that is decoded as the value, described by the decoding steps that select it.
///
/// Two values of the same type from different parts of a response are stored separately, because the cache key
/// identifies only the whole response.
package struct ResponsePart: Sendable, Hashable {
    /// A step from the body to the value.
    enum Step: Sendable, Hashable {
        /// Removes an envelope (the outer JSON object with code and message), so that its data remain.
        case frame(Envelope)
        /// Selects the value at a key path.
        case keyPath(String)
        /// Removes `null` members and elements.
        case withoutNulls
        /// Decodes text, in this encoding if the response names no encoding.
        case text(String.Encoding)
        /// Applies a function of the app. Two such functions cannot be distinguished, so they count as the same step.
        case mapped
        /// Uses the first of several serializers that can decode the body.
        case first([ResponsePart])
    }

    /// The whole body.
    static let whole = ResponsePart()

    private var steps: [Step]

    init(_ steps: Step...) {
        self.steps = steps
    }

    /// Returns the part after one more step.
    func after(_ step: Step) -> ResponsePart {
        var part = self
        part.steps.append(step)
        return part
    }

    /// Returns the part at a key path within this part, or this part itself if the key path is `nil` or empty.
    func at(_ keyPath: String?) -> ResponsePart {
        guard let keyPath, !keyPath.isEmpty else { return self }
        return after(.keyPath(keyPath))
    }
}
