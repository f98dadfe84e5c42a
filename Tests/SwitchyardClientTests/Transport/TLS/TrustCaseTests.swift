import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Rows N3 to N6: who is trusted, by the cases of OkHttp and Alamofire that pins alone decide.
@Suite struct TrustCaseTests {
    private static func pin(_ key: String) -> TLSPin? {
        TLSPin(Data(repeating: key.utf8.first ?? 0, count: 32).base64EncodedString())
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
                guard let pin = TLSPin(text), let pattern else {
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

    /// The first rule that covers the host decides, by any key of the chain.
    private static func judgePins(_ item: JSONValue) -> CaseOutcome {
        let host = item["host"]?.string ?? ""
        let keys = (item["chain_keys"]?.array ?? []).compactMap { pin($0.string ?? "") }
        let rules = (item["pins"]?.members ?? []).filter { HostPattern($0.key)?.matches(host) ?? false }.map { rule in
            Set((rule.value.array ?? []).compactMap { pin($0.string ?? "") })
        }
        let isTrusted = rules.first.map { pins in keys.contains(where: pins.contains) } ?? true
        return CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
            .or("Of several rules for one host the first counts; keys are not gathered from all.", if: rules.count > 1)
    }

    @Test func `pins of keys and of certificates are compared with a chain as Alamofire does it`() throws {
        let url = try #require(
            Bundle.module.url(forResource: "alamofire_tls_pinning", withExtension: "json", subdirectory: "Cases")
        )
        let root = try JSONReader.read(String(decoding: try Data(contentsOf: url), as: UTF8.self))
        var certificates: [String: Data] = [:]
        for member in root["certificates"]?.members ?? [] {
            let der = try #require(Data(base64Encoded: member.value["der_base64"]?.string ?? ""))
            let digests = [TLSPin.Subject.publicKey, .certificate].map { TLSPin(certificate: der, subject: $0)?.base64 }
            #expect(digests == ["spki_sha256_base64", "cert_sha256_base64"].map { member.value[$0]?.string })
            certificates[member.key] = der
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
            let subject = mode == "certificate" ? TLSPin.Subject.certificate : .publicKey
            let named = { (key: String) in (item[key]?.array ?? []).compactMap { certificates[$0.string ?? ""] } }
            let pins = Set(named("pins").compactMap { TLSPin(certificate: $0, subject: subject) })
            let isTrusted = named("chain").contains(where: pins.accept)
            return CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
        }
    }
}
