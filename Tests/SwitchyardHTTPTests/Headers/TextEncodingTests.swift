import Foundation
import Testing

@testable import SwitchyardHTTP

@Suite struct TextEncodingTests {
    // Names of the IANA registry of character sets and labels of the WHATWG Encoding standard.
    @Test(
        arguments: [
            ("ANSI_X3.4-1968", [0x41], "A"), ("cp367", [0x41], "A"), ("iso646-us", [0x41], "A"),
            ("ISO_8859-1:1987", [0xE9], "é"), ("csISOLatin1", [0xE9], "é"), ("cp819", [0xE9], "é"),
            ("iso88592", [0xB1], "ą"), ("iso8859-5", [0xD0], "а"), ("iso_8859-7", [0xE1], "α"), ("greek", [0xE1], "α"),
            ("iso8859-9", [0xFE], "ş"), ("latin5", [0xFE], "ş"), ("iso_8859-15", [0xA4], "€"), ("latin9", [0xA4], "€"),
            ("x-cp1255", [0xE0], "א"), ("cp1257", [0xE0], "ą"), ("cp866", [0x80], "А"), ("koi8", [0xC1], "а"),
            ("cskoi8r", [0xC1], "а"), ("mac", [0x8A], "ä"), ("ms_kanji", [0x82, 0xA0], "あ"),
            ("ksc5601", [0xB0, 0xA1], "가"), ("windows-949", [0x81, 0x41], "갂"), ("cn-big5", [0xA4, 0x40], "一"),
            ("iso-ir-58", [0xB0, 0xA1], "啊"),
            ("unicode11utf8", [0xC3, 0xA9], "é"),
        ] as [(String, [UInt8], String)]
    )
    func `text is decoded whichever name of its character set the server uses`(
        name: String,
        bytes: [UInt8],
        text: String
    ) throws {
        #expect(try TextEncoding.decoded(Data(bytes), named: name) == text)
    }
}
