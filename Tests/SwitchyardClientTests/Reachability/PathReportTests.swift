import Testing

@testable import SwitchyardClient

/// How a network path of an Apple system is interpreted.
@Suite struct PathReportTests {
    @Test func `an unsatisfied network path is reported as not reachable`() {
        #expect(PathReport(isUnsatisfied: true).status(isProof: true) == .notReachable)
    }

    // TN3135: ordinary apps on watchOS always get an unsatisfied path.
    @Test func `an unsatisfied network path is reported as unknown on watchOS`() {
        let status = PathReport(isUnsatisfied: true, isLocal: true).status(isProof: false)

        #expect(status == .unknown)
        #expect(status.isReachable)
    }

    @Test(arguments: [true, false])
    func `a satisfied network path is reported as reachable by the type of its interface`(isProof: Bool) {
        #expect(PathReport(isCellular: true).status(isProof: isProof) == .reachable(.cellular))
        #expect(PathReport(isLocal: true).status(isProof: isProof) == .reachable(.local))
        #expect(PathReport().status(isProof: isProof) == .reachable(.other))
    }

    @Test func `a path with cellular and WiFi counts as cellular`() {
        #expect(PathReport(isCellular: true, isLocal: true).status(isProof: true) == .reachable(.cellular))
    }
}
