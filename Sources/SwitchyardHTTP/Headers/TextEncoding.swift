package import Foundation
import SwitchyardServices

/// The text encodings that a `charset` parameter can name.
package enum TextEncoding {
    /// Returns the encoding for a name in the IANA registry, or `nil` if Foundation does not support it on this
    /// platform.
    package static func encoding(named name: String) -> String.Encoding? {
        let name = aliases[name.lowercased()] ?? name.lowercased()
        if let known = known[name] { return known }
        #if canImport(Darwin)
            let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
            guard encoding != kCFStringEncodingInvalidId else { return nil }
            return String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(encoding))
        #else
            return numbers[name].map { String.Encoding(rawValue: 0x8000_0000 | $0) }
        #endif
    }

    private static let known: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "ascii": .ascii,
        "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2,
        "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
        "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        // Labels from the WHATWG Encoding standard that servers use for these encodings.
        "unicode-1-1-utf-8": .utf8, "iso8859-1": .isoLatin1, "iso_8859-1": .isoLatin1, "l1": .isoLatin1,
        "iso8859-2": .isoLatin2, "iso_8859-2": .isoLatin2, "latin2": .isoLatin2, "l2": .isoLatin2,
        "cp1250": .windowsCP1250, "cp1251": .windowsCP1251, "cp1252": .windowsCP1252, "cp1253": .windowsCP1253,
        "cp1254": .windowsCP1254, "x-cp1250": .windowsCP1250, "x-cp1251": .windowsCP1251, "x-cp1252": .windowsCP1252,
        "shift-jis": .shiftJIS, "sjis": .shiftJIS, "x-sjis": .shiftJIS, "x-euc-jp": .japaneseEUC,
        "x-gbk": gb18030, "gb_2312-80": gb18030, "chinese": gb18030,
        "utf-16": .utf16, "utf-16be": .utf16BigEndian, "utf-16le": .utf16LittleEndian,
        "utf-32": .utf32, "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian,
        "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP,
        "gb2312": gb18030, "gbk": gb18030, "gb18030": gb18030,
    ]

    /// Other names of character sets in the IANA registry and in the WHATWG Encoding standard, with the names used here.
    private static let aliases: [String: String] = {
        let names = [
            "us-ascii": "ansi_x3.4-1968 ansi_x3.4-1986 iso-ir-6 iso646-us us ibm367 cp367 csascii",
            "iso-8859-1": "iso88591 iso_8859-1:1987 iso-ir-100 csisolatin1 ibm819 cp819",
            "iso-8859-2": "iso88592 iso_8859-2:1987 iso-ir-101 csisolatin2",
            "iso-8859-5": "iso8859-5 iso88595 iso_8859-5 cyrillic csisolatincyrillic",
            "iso-8859-6": "iso8859-6 iso88596 iso_8859-6 arabic csisolatinarabic",
            "iso-8859-7": "iso8859-7 iso88597 iso_8859-7 greek greek8 csisolatingreek",
            "iso-8859-8": "iso8859-8 iso88598 iso_8859-8 hebrew csisolatinhebrew",
            "iso-8859-9": "iso8859-9 iso88599 iso_8859-9 latin5 l5 csisolatin5",
            "iso-8859-10": "iso8859-10 iso885910 latin6 l6",
            "iso-8859-13": "iso8859-13 iso885913",
            "iso-8859-15": "iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9",
            "windows-874": "dos-874",
            "windows-1255": "cp1255 x-cp1255",
            "windows-1256": "cp1256 x-cp1256",
            "windows-1257": "cp1257 x-cp1257",
            "windows-1258": "cp1258 x-cp1258",
            "ibm866": "cp866 866 csibm866",
            "koi8-r": "koi koi8 koi8_r cskoi8r",
            "koi8-u": "koi8-ru",
            "macintosh": "mac x-mac-roman csmacintosh",
            "shift_jis": "ms_kanji csshiftjis",
            "iso-2022-jp": "csiso2022jp",
            "euc-kr": "cseuckr",
            "ks_c_5601-1987": "korean windows-949 ksc5601 ksc_5601 ks_c_5601-1989 csksc56011987",
            "big5": "cn-big5 x-x-big5 csbig5",
            "gb2312": "gb_2312 csgb2312 csgb231280 iso-ir-58",
            "utf-8": "unicode11utf8 unicode20utf8 x-unicode20utf8 csutf8",
        ]
        let pairs = names.flatMap { name, others in others.split(separator: " ").map { (String($0), name) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    #if !canImport(Darwin)
        /// The encodings that Foundation on Linux supports but does not find by name, as numbers of
        /// `CFStringEncodings`.
        private static let numbers: [String: UInt] = [
            "iso-8859-3": 0x203, "iso-8859-4": 0x204, "iso-8859-5": 0x205, "iso-8859-6": 0x206, "iso-8859-7": 0x207,
            "iso-8859-8": 0x208, "iso-8859-9": 0x209, "iso-8859-10": 0x20A, "iso-8859-11": 0x20B, "tis-620": 0x20B,
            "iso-8859-13": 0x20D, "iso-8859-14": 0x20E, "iso-8859-15": 0x20F, "latin-9": 0x20F, "iso-8859-16": 0x210,
            "windows-874": 0x41D, "windows-1255": 0x505, "windows-1256": 0x506, "windows-1257": 0x507,
            "windows-1258": 0x508, "ibm866": 0x41B, "koi8-r": 0xA02, "koi8-u": 0xA08, "macintosh": 0,
            "windows-31j": 0x420, "euc-kr": 0x940, "ks_c_5601-1987": 0x422, "big5": 0xA03, "big5-hkscs": 0xA06,
        ]
    #endif

    /// GB 18030, a superset of GBK and GB 2312.
    ///
    /// The number is Foundation's for `kCFStringEncodingGB_18030_2000`.
    private static let gb18030 = String.Encoding(rawValue: 0x8000_0632)

    /// The error for bytes that are not valid text in an encoding.
    package struct Unreadable: Error {
        /// The name of the encoding.
        package let encoding: String
    }

    /// Returns the body as text.
    ///
    /// The encoding follows from a byte order mark if there is one (as in the WHATWG Encoding standard), otherwise
    /// from `name`. If both are missing, it is `fallback`.
    package static func decoded(
        _ data: Data,
        named name: String?,
        fallback: String.Encoding = .utf8
    ) throws(Unreadable) -> String {
        if let (encoding, length) = mark(of: data) {
            return try decode(data.dropFirst(length), encoding, name: name ?? "UTF-8")
        }
        guard let name else { return try decode(data, fallback, name: fallback == .utf8 ? "UTF-8" : "\(fallback)") }
        guard let encoding = encoding(named: name) else { throw Unreadable(encoding: name) }
        return try decode(data, encoding, name: name)
    }

    /// Whether every text in a character set is also valid UTF-8, as for UTF-8 itself and ASCII.
    package static func isUTF8(_ charset: String) -> Bool {
        charset == "utf-8" || charset == "utf8" || charset == "us-ascii"
    }

    /// The lowest byte with which a byte order mark can start.
    ///
    /// Text that starts with a lower byte has no mark.
    package static let leastMark: UInt8 = 0xEF

    private static func decode(
        _ data: Data,
        _ encoding: String.Encoding,
        name: String
    ) throws(Unreadable) -> String {
        let text = encoding == .utf8 ? String(validUTF8: data) : String(data: Data(data), encoding: encoding)
        guard let text else { throw Unreadable(encoding: name) }
        return text
    }

    /// Returns the encoding and the length of a byte order mark, or `nil` if there is none.
    package static func mark(of data: Data) -> (encoding: String.Encoding, length: Int)? {
        guard let first = data.first, first >= leastMark else { return nil }
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if data.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
        // UTF-16 text does not start with NUL, so these bytes are the mark of UTF-32.
        if data.starts(with: [0xFF, 0xFE, 0, 0]) { return (.utf32LittleEndian, 4) }
        if data.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        return nil
    }
}
