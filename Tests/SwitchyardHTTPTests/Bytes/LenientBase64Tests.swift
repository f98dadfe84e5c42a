import Foundation
import SwitchyardHTTP
import Testing

@Suite struct LenientBase64Tests {
    @Test(
        arguments: [
            ("YT8+YQ==", "a?>a"), ("YT8-YQ", "a?>a"), ("YT8+\r\nYQ==\r\n", "a?>a"), (" Y T 8 + Y Q ", "a?>a"),
            ("YQ==YQ==", "aa"), ("YQ=YQ", "aa"), ("YT8+YQ!", "a?>a"), ("", ""), ("Y", ""), ("=", ""),
        ]
    )
    func `base64 is decoded with any alphabet, whitespace and padding`(text: String, plain: String) {
        #expect(LenientBase64.data(text.utf8) == Data(plain.utf8))
    }

    @Test(arguments: [("YT8+YQ==\n", true), ("YT8-_Q", true), ("a b", true), ("a.b", false), ("{}", false)])
    func `pure base64 text contains only base64 characters, padding and whitespace`(text: String, isPure: Bool) {
        #expect(LenientBase64.isPure(text.utf8) == isPure)
    }
}
