package import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension TextEncoding {
    /// Returns the body as text: see ``decoded(_:named:fallback:)``.
    package static func text(of data: Data, named name: String?, fallback: String.Encoding = .utf8) throws(APIError)
        -> String
    {
        do throws(Unreadable) {
            return try decoded(data, named: name, fallback: fallback)
        } catch {
            throw APIError(.body(.text(encoding: error.encoding)))
        }
    }

    /// Returns a JSON body as UTF-8, whatever its charset.
    ///
    /// A body that is already UTF-8 is returned unchanged.
    package static func utf8(_ response: RawResponse) throws(APIError) -> Data {
        let charset = response.charset
        let mark = mark(of: response.data)
        guard charset.map({ !isUTF8($0) }) ?? false || mark != nil else { return response.data }
        if mark?.encoding == .utf8 { return Data(response.data.dropFirst(3)) }
        if mark == nil, let charset, !isDecisive(charset), String(validUTF8: response.data) != nil {
            return response.data
        }
        return Data(try text(of: response.data, named: charset).utf8)
    }

    /// Returns whether the charset that a response names overrides the encoding that the bytes of its JSON show.
    ///
    /// JSON is UTF-8, and a charset has no effect on it (RFC 8259 sections 8.1 and 11). Frameworks add their default
    /// charset, mostly a Latin one, to text that is UTF-8. Text in a single-byte encoding is almost never valid UTF-8
    /// by chance. Text in an encoding with wider characters may be valid UTF-8 by chance, but no framework uses such an
    /// encoding by default.
    private static func isDecisive(_ name: String) -> Bool {
        encoding(named: name).map(decisive.contains) ?? false
    }

    /// The encodings with characters of several bytes, those of Thai, and code page 866.
    ///
    /// A Thai or Russian word in these single-byte encodings is sometimes valid UTF-8. The numbers are those of
    /// `CFStringEncodings`.
    private static let decisive: Set<String.Encoding> = {
        let named: [String.Encoding] = [
            .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian, .shiftJIS,
            .japaneseEUC, .iso2022JP,
        ]
        let numbers: [UInt] = [
            0x20B, 0x41B, 0x41D, 0x420, 0x421, 0x422, 0x423, 0x510, 0x628, 0x631, 0x632, 0x821, 0x822, 0x823, 0x830,
            0x831, 0x840, 0x930, 0x931, 0x940, 0xA03, 0xA05, 0xA06, 0xA09,
        ]
        return Set(named + numbers.map { String.Encoding(rawValue: 0x8000_0000 | $0) })
    }()
}
