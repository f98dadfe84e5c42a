import SwitchyardClient
import SwitchyardHTTP

/// Guards decoders against texts that nest so deep that decoding them would overflow a thread's stack.
public enum JSONDepth {
    /// How deep arrays and objects may nest unless told otherwise: 128.
    ///
    /// Foundation's decoder itself stops at 512, but a type that contains itself overflows a stack of 512 KiB, which
    /// secondary threads of Apple systems have, at that depth.
    public static let standard = JSONNesting.standard

    /// The deepest limit that may be set: 512, where Foundation's decoder stops.
    public static let ceiling = 512

    /// Checks a text in one pass, without parsing it.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - limit: How deep it may nest.
    /// - Throws: ``DecodingFailure`` when it nests deeper.
    static func check(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(DecodingFailure) {
        if isExceeded(by: bytes, limit: limit) { throw DecodingFailure(.tooDeep(limit: limit)) }
    }

    /// Whether a text nests deeper than it may.
    static func isExceeded(by bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        JSONNesting.isDeeper(bytes, than: limit)
    }
}
