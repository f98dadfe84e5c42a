import Foundation

/// Which part of an answer is the value, and how it is made of it where its type alone does not say.
///
/// Values of one type that differ in it are told apart where they are stored, since the key names the whole answer.
package struct AnswerPart: Sendable, Hashable {
    /// What leads from the body to the value.
    enum Step: Sendable, Hashable {
        /// Taking off a frame: what stands within one is not what stands within another.
        case frame(Envelope)
        /// Going to a key path.
        case keyPath(String)
        /// Leaving out what is `null`.
        case withoutNulls
        /// Reading text in this encoding where the answer names none.
        case text(String.Encoding)
        /// A function of the app's; two of them are taken for one.
        case mapped
        /// The first of several serialisers that can read it.
        case first([AnswerPart])
    }

    /// All of the body.
    static let whole = AnswerPart()

    private var steps: [Step]

    init(_ steps: Step...) {
        self.steps = steps
    }

    /// The part of this part to which one more step leads.
    func after(_ step: Step) -> AnswerPart {
        var part = self
        part.steps.append(step)
        return part
    }

    /// The part at a key path within this one; all of it without one.
    func at(_ keyPath: String?) -> AnswerPart {
        guard let keyPath, !keyPath.isEmpty else { return self }
        return after(.keyPath(keyPath))
    }
}
