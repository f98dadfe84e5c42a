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
            guard item["pins"]?.members != nil else { return .notApplicable("A test with real certificates shows it.") }
            return Self.judgePins(item)
        }
    }

    /// The first rule that covers the host decides, by the key of the server's own certificate.
    private static func judgePins(_ item: JSONValue) -> CaseOutcome {
        let host = item["host"]?.string ?? ""
        let keys = (item["chain_keys"]?.array ?? []).compactMap { pin($0.string ?? "") }
        let rules = (item["pins"]?.members ?? []).filter { HostPattern($0.key)?.matches(host) ?? false }.map { rule in
            Set((rule.value.array ?? []).compactMap { pin($0.string ?? "") })
        }
        let isTrusted = rules.first.map { pins in keys.first.map(pins.contains) ?? false } ?? true
        return CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
            .or("Of several rules for one host the first counts; keys are not gathered from all.", if: rules.count > 1)
            .or(leafOnly, if: !isTrusted && keys.dropFirst().contains { rules.first?.contains($0) ?? false })
    }

    private static let leafOnly =
        "Only the key of the server's own certificate is compared, since every certificate of "
        + "an authority in the chain would pass otherwise."

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
            let chain = (item["chain"]?.array ?? []).map { $0.string.flatMap { pins[$0] } }
            let isTrusted = chain.first?.map(wanted.contains) ?? false
            let outcome = CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
            let isAuthority = chain.dropFirst().contains { $0.map(wanted.contains) ?? false }
            return outcome.or(Self.leafOnly, if: isAuthority && !isTrusted)
        }
    }
}
