// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Switchyard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Switchyard", targets: ["Switchyard"]),
        .library(name: "SwitchyardRequests", targets: ["SwitchyardRequests"]),
        .library(name: "SwitchyardOutbox", targets: ["SwitchyardOutbox"]),
        .library(name: "SwitchyardDiagnostics", targets: ["SwitchyardDiagnostics"]),
        .library(name: "SwitchyardTesting", targets: ["SwitchyardTesting"]),
        .executable(name: "yard", targets: ["yard"]),
    ],
    targets: [
        // The core, floor by floor: each uses those above it here.
        .target(name: "SwitchyardServices"),
        .target(name: "CLibcurl"),
        .target(
            name: "SwitchyardClient",
            dependencies: [
                "SwitchyardServices",
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(
            name: "SwitchyardAPI",
            dependencies: ["SwitchyardClient", "SwitchyardServices"],
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(name: "Switchyard", dependencies: ["SwitchyardAPI", "SwitchyardClient", "SwitchyardServices"]),

        // Leaves beside the core, each a product of its own: nothing in the core knows them.
        .target(name: "SwitchyardRequests", dependencies: ["SwitchyardAPI", "SwitchyardClient", "SwitchyardServices"]),
        .target(name: "SwitchyardOutbox", dependencies: ["SwitchyardClient", "SwitchyardServices"]),
        .target(name: "SwitchyardDiagnostics", dependencies: ["SwitchyardClient", "SwitchyardServices"]),
        .target(
            name: "SwitchyardTesting",
            dependencies: ["SwitchyardDiagnostics", "SwitchyardClient", "SwitchyardServices"]
        ),

        // Tools.
        .executableTarget(
            name: "yard",
            dependencies: ["Switchyard", "SwitchyardTesting"],
            path: "Sources/YardTool"
        ),
        .systemLibrary(name: "CEpoll"),
        .executableTarget(
            name: "SwitchyardBenchmarks",
            dependencies: [
                "Switchyard", "SwitchyardTesting",
                .target(name: "CEpoll", condition: .when(platforms: [.linux])),
            ]
        ),

        // Tests: what several of them share, then those of each target.
        .target(
            name: "SwitchyardFixtures",
            dependencies: ["SwitchyardAPI", "SwitchyardClient", "SwitchyardServices", "SwitchyardTesting"],
            path: "Tests/Fixtures"
        ),
        .testTarget(
            name: "SwitchyardServicesTests",
            dependencies: ["SwitchyardServices", "SwitchyardTesting"],
            resources: [.copy("Cases"), .copy("Traces")]
        ),
        .testTarget(
            name: "SwitchyardClientTests",
            dependencies: [
                "SwitchyardClient", "SwitchyardDiagnostics", "SwitchyardServices", "SwitchyardTesting",
                "SwitchyardFixtures",
            ],
            resources: [.copy("Cases")]
        ),
        .testTarget(
            name: "SwitchyardAPITests",
            dependencies: [
                "SwitchyardAPI", "SwitchyardClient", "SwitchyardDiagnostics", "SwitchyardRequests",
                "SwitchyardServices", "SwitchyardTesting", "SwitchyardFixtures",
            ],
            resources: [.copy("Cases")]
        ),
        .testTarget(
            name: "SwitchyardRequestsTests",
            dependencies: [
                "SwitchyardRequests", "SwitchyardAPI", "SwitchyardClient", "SwitchyardServices", "SwitchyardTesting",
                "SwitchyardFixtures",
            ]
        ),
        .testTarget(
            name: "SwitchyardOutboxTests",
            dependencies: [
                "SwitchyardOutbox", "SwitchyardClient", "SwitchyardServices", "SwitchyardTesting", "SwitchyardFixtures",
            ]
        ),
        .testTarget(
            name: "SwitchyardDiagnosticsTests",
            dependencies: [
                "SwitchyardDiagnostics", "SwitchyardClient", "SwitchyardOutbox", "SwitchyardServices",
                "SwitchyardTesting", "SwitchyardFixtures",
            ]
        ),
        .testTarget(
            name: "SwitchyardTestingTests",
            dependencies: ["SwitchyardTesting", "SwitchyardClient", "SwitchyardDiagnostics", "SwitchyardFixtures"]
        ),
        .testTarget(
            name: "SwitchyardTests",
            dependencies: [
                "Switchyard", "SwitchyardDiagnostics", "SwitchyardOutbox", "SwitchyardRequests", "SwitchyardTesting",
                "SwitchyardFixtures",
            ]
        ),
        .testTarget(name: "SwitchyardMainActorTests", dependencies: ["Switchyard", "SwitchyardTesting"]),
        .testTarget(
            name: "YardToolTests",
            dependencies: ["yard", "Switchyard", "SwitchyardTesting", "SwitchyardFixtures"]
        ),
        .testTarget(name: "SwitchyardBenchmarksTests", dependencies: ["SwitchyardBenchmarks"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}

// An app as new ones are set up: what does not say otherwise is on the main actor.
for target in package.targets where target.name == "SwitchyardMainActorTests" {
    target.swiftSettings?.append(.defaultIsolation(MainActor.self))
}
