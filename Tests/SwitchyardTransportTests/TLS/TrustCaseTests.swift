import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

/// The cases of OkHttp and Alamofire that pins alone decide.
@Suite struct TrustCaseTests {
    private static func pin(_ key: String) -> TLSPin? {
        TLSPin(Data(repeating: key.utf8.first ?? 0, count: 32).base64EncodedString())
    }

    @Test func `host patterns and pins match OkHttp`() async throws {
        let keys: CaseKeys = """
            pins host chain_keys expected_trusted pin pattern expected_error expected_match
            certificates expected subjectAltNames commonName
            """
        try await CaseFile("okhttp_pinning_hostnames").runAsync(reading: keys) { item in
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
            return try await Self.judgePins(item)
        }
    }

    /// Sends a request to a host through the rules of a case, with stubs whose chain has the keys of the case.
    private static func judgePins(_ item: CaseValue) async throws -> CaseOutcome {
        let host = item["host"]?.string ?? ""
        let keys = Set((item["chain_keys"]?.array ?? []).compactMap { pin($0.string ?? "") })
        // A rule needs at least two pins. No chain has the keys of these.
        let spare = Set(["1", "2"].compactMap(pin))
        let rules = try (item["pins"]?.members ?? []).map { rule in
            let pins = (rule.value.array ?? []).compactMap { pin($0.string ?? "") }
            return try PinRule(hosts: rule.key, pins: spare.union(pins))
        }
        let transport = try PinnedTransport(rules: rules) { pins in
            let isTrusted = pins.isEmpty || !pins.isDisjoint(with: keys)
            return StubTransport { _ in isTrusted ? .status(200) : .failure(.certificateRejected) }
        }
        let request = HTTPRequest(url: try #require(RequestURL("https://\(host)/")))
        let isTrusted = (try? await transport.send(request)) != nil
        return CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)").or(
            "Of several rules for one host the first counts; keys are not gathered from all.",
            if: rules.count { $0.hosts.matches(host) } > 1
        )
    }

    @Test func `pins of keys and certificates are compared with a chain as in Alamofire`() throws {
        let certificates = try Self.certificates(in: "alamofire_tls_pinning")
        let keys: CaseKeys = """
            chain host pins mode performDefaultValidation validateHost rootIsAnchor expected_trusted
            decidable_from_pins_alone upstream_status
            """
        try CaseFile("alamofire_tls_pinning").run(reading: keys) { item in
            let mode = item["mode"]?.string
            if mode == "disabled" {
                return .differs("Trust cannot be switched off; an authority of one's own can be named.")
            }
            guard item["decidable_from_pins_alone"]?.bool ?? false else {
                return .notApplicable(
                    "Validity, chain and host are judged by the TLS library; the certificates have expired."
                )
            }
            return Self.judge(item, pins: item["pins"], mode: mode, of: certificates)
        }
    }

    @Test func `pins of keys and certificates are compared with a chain as in AFNetworking`() throws {
        let certificates = try Self.certificates(in: "afnetworking_tls_pinning")
        let keys: CaseKeys = """
            policy policy.mode policy.pins policy.allowInvalidCertificates policy.validatesDomainName
            chain domain expected expected_trusted
            """
        try CaseFile("afnetworking_tls_pinning").run(reading: keys) { item in
            let policy = item["policy"]
            guard item["expected"] == nil else {
                return .notApplicable("The settings and their defaults are another library's.")
            }
            let isTrusted = item["expected_trusted"]?.bool ?? false
            if policy?["allowInvalidCertificates"]?.bool == true, isTrusted {
                return .differs("Trust cannot be switched off; an authority of one's own can be named.")
            }
            if policy?["validatesDomainName"]?.bool == false, isTrusted {
                return .differs("The name in a certificate is always checked.")
            }
            let named = (policy?["pins"]?.array ?? []).compactMap { certificates[$0.string ?? ""] }
            let isWithoutPins = policy?["mode"]?.string == "none" || named.isEmpty
            guard !isWithoutPins, isTrusted || item["domain"]?.string == nil else {
                return .notApplicable("Validity, chain and host are judged by the TLS library.")
            }
            return Self.judge(item, pins: policy?["pins"], mode: policy?["mode"]?.string, of: certificates)
        }
    }

    /// The certificates in a file by name, if their pins match the file's.
    private static func certificates(in file: String) throws -> [String: Data] {
        let root = try CaseFile.root(of: file)
        var certificates: [String: Data] = [:]
        for member in root["certificates"]?.members ?? [] {
            let der = try #require(Data(base64Encoded: member.value["der_base64"]?.string ?? ""))
            let digests = [TLSPin.Subject.publicKey, .certificate].map { TLSPin(certificate: der, subject: $0)?.base64 }
            #expect(digests == ["spki_sha256_base64", "cert_sha256_base64"].map { member.value[$0]?.string })
            certificates[member.key] = der
        }
        return certificates
    }

    /// Whether a chain has one of the pins.
    private static func judge(
        _ item: CaseValue,
        pins: CaseValue?,
        mode: String?,
        of certificates: [String: Data]
    ) -> CaseOutcome {
        let named = { (list: CaseValue?) in (list?.array ?? []).compactMap { certificates[$0.string ?? ""] } }
        let subject = mode == "certificate" ? TLSPin.Subject.certificate : .publicKey
        let pins = Set(named(pins).compactMap { TLSPin(certificate: $0, subject: subject) })
        let isTrusted = named(item["chain"]).contains(where: pins.accept)
        return CaseOutcome.compare("\(isTrusted)", "\(item["expected_trusted"]?.bool ?? false)")
    }
}
