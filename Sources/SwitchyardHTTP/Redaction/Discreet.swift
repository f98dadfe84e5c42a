/// A value of which every printer shows the description alone, and so no secret.
///
/// `print`, string interpolation, `debugPrint`, `dump`, a failing test and a debugger would otherwise list the stored
/// properties, credentials included. A type that holds some conforms and gives a `description` without them.
public protocol Discreet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Discreet {
    /// The same as the description.
    public var debugDescription: String { description }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

// The `description` of the types below, and of `RequestURL`, is what they are, and goes into requests. Whoever lists what a value is made of asks for the other
// one.

extension HTTPHeaders: CustomDebugStringConvertible, CustomReflectable {
    /// The same as the redacted description.
    public var debugDescription: String { redactedDescription }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

extension HTTPHeaders.Field: CustomDebugStringConvertible, CustomReflectable {
    /// The field as a line, with credentials hidden.
    public var debugDescription: String { "\(name): \(Redaction.standard.value(value, ofHeader: name))" }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}
