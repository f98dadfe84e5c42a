import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// RFC 9110 sections 5.5 and 5.6.2.
@Suite struct HTTPTokenTests {
    @Test func `an HTTP token consists of letters, digits and fifteen other characters`() {
        let others = Set("!#$%&'*+-.^_`|~".utf8)

        for byte in UInt8.min...UInt8.max {
            let scalar = Unicode.Scalar(byte)
            let isLetterOrDigit = scalar.isASCII && scalar.properties.isAlphabetic || (48...57).contains(byte)
            #expect(HTTPToken.isTokenByte(byte) == (isLetterOrDigit || others.contains(byte)), "byte \(byte)")
        }
    }

    @Test func `a name that is empty or has an invalid character is not a token`() {
        #expect(HTTPToken.isValid("X-Trace-Id"))
        #expect(!HTTPToken.isValid(""))
        for name in [" X", "X ", "X:Y", "naïve", "X\u{0}", "X\n"] { #expect(!HTTPToken.isValid(name)) }
    }

    @Test(arguments: [0, 15, 16, 17, 63, 64, 200])
    func `a control character is found at any position of a header field's value`(_ place: Int) {
        for byte in [0, 10, 13, 27, 31, 127] as [UInt8] {
            let text = String(repeating: "a", count: place) + String(Unicode.Scalar(byte))

            #expect(!HTTPHeaders.Field(name: "X", value: text + "b").isValid)
            #expect(!HTTPHeaders.Field(name: "X", value: "b" + text).isValid)
        }
    }

    @Test func `the value of a header field may contain tabs and non-ASCII text`() {
        #expect(HTTPHeaders.Field(name: "X", value: "a\tb").isValid)
        #expect(HTTPHeaders.Field(name: "X", value: "Grüße, 世界").isValid)
        #expect(HTTPHeaders.Field(name: "X", value: "").isValid)
    }

    @Test func `the names of header fields are compared case-insensitively for ASCII only`() {
        #expect("Content-Type".equalsIgnoringASCIICase("cONTENT-tYPE"))
        #expect(!"Content-Type".equalsIgnoringASCIICase("Content-Typf"))
        #expect(!"@".equalsIgnoringASCIICase("`"))
        #expect(!"É".equalsIgnoringASCIICase("é"))
    }
}
