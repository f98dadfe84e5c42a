import Testing

@testable import SwitchyardServices

@Suite struct ServiceFormatTests {
    @Test func `the documented table of the service file format contains every key that the parser accepts`() {
        let names = ServiceFormat.keys.map(\.path)

        #expect(ServiceFormat.names(in: "") == ["service", "defaultEnvironment", "servers", "switching"])
        #expect(
            ServiceFormat.names(in: "servers[]")
                == ["name", "baseURLs", "cdnURLs", "weight", "serves", "rewrites", "priority", "zone"]
        )
        for object in ["switching", "switching.hedging", "switching.admission"] {
            let below = names.filter { $0.hasPrefix("\(object).") && !$0.dropFirst(object.count + 1).contains(".") }
            #expect(ServiceFormat.names(in: object).count == below.count && !below.isEmpty)
        }
        #expect(Set(names).count == names.count)
        #expect(ServiceFormat.keys.allSatisfy { !$0.type.isEmpty && !$0.meaning.isEmpty })
    }
}
