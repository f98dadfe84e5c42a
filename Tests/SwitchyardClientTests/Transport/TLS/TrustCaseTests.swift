import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Rows N3 to N6: who is trusted, by the cases of OkHttp and Alamofire that pins alone decide.
@Suite struct TrustCaseTests {
    private static func pin(_ key: String) -> PublicKeyPin? {
        PublicKeyPin(Data(repeating: key.utf8.first ?? 0, count: 32).base64EncodedString())
    }

    @Test func `patterns and pins are those of OkHttp`() throws {
        try CaseFile("okhttp_pinning_hostnames").run { item in
            if item["subjectAltNames"] != nil {
                return .notApplicable(
                    "The name in a certificate is checked by the TLS library, which cannot be told not to."
                )
            }
            if item["certificates"] != nil {
                return .notApplicable("A test with real certificates shows it.")
            }
            if let text = item["pin"]?.string {
                let pattern = HostPattern(item["pattern"]?.string ?? "")
                guard let pin = PublicKeyPin(text), let pattern else {
                    return .compare("\(true)", "\(item["expected_error"]?.bool ?? false)")
                }
                _ = pin
                return .compare(
                    "\(pattern.matches(item["host"]?.string ?? ""))",
                    "\(item["expected_match"]?.bool ?? false)"
                )
            }
            let host = item["host"]?.string ?? ""
            let keys = Set((item["chain_keys"]?.array ?? []).compactMap { Self.pin($0.string ?? "") })
            let isTrusted = (item["pins"]?.members ?? []).allSatisfy { member in
                let pins = (member.value.array ?? []).compactMap { Self.pin($0.string ?? "") }
                guard let pattern = HostPattern(member.key), pattern.matches(host) else { return true }
                return !keys.isDisjoint(with: pins)
            }
            return .compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
        }
    }

    @Test func `keys are found in certificates as Alamofire finds them`() throws {
        let url = try #require(
            Bundle.module.url(forResource: "alamofire_tls_pinning", withExtension: "json", subdirectory: "Cases")
        )
        let root = try JSONReader.read(String(decoding: try Data(contentsOf: url), as: UTF8.self))
        var pins: [String: PublicKeyPin] = [:]
        for member in root["certificates"]?.members ?? [] {
            let der = try #require(Data(base64Encoded: member.value["der_base64"]?.string ?? ""))
            let pin = try #require(PublicKeyPin(certificate: der))
            #expect(pin.base64 == member.value["spki_sha256_base64"]?.string)
            pins[member.key] = pin
        }
        try CaseFile("alamofire_tls_pinning").run { item in
            let mode = item["mode"]?.string
            if mode == "disabled" {
                return .differs("Trust cannot be switched off; an authority of one's own can be named.")
            }
            guard item["decidable_from_pins_alone"]?.bool ?? false else {
                return .notApplicable(
                    "Validity, chain and host are judged by the TLS library; the certificates have expired."
                )
            }
            let wanted = Set((item["pins"]?.array ?? []).compactMap { pins[$0.string ?? ""] })
            let leaf = item["chain"]?.array?.first?.string.flatMap { pins[$0] }
            let isTrusted = leaf.map(wanted.contains) ?? false
            let outcome = CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
            return outcome.or(
                "Only the key of the server's own certificate is compared, since every certificate of "
                    + "an authority in the chain would pass otherwise."
            )
        }
    }
}
